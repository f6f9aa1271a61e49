// doc:    What more observables add to a match_subgraph, in one row; the lists are in no fixed order.
// access: read
// shape:  row
// param:  observables  list[str]        ids; unknown ones are left out
// column: shows        list[list[any]]  mechanism, observable, strength, because or null
// column: leaks        list[list[any]]  observable, leak, specificity, kind
// column: expects      list[list[any]]  class, observable, probability
// column: refutes      list[list[any]]  observable, class, when, because, factor or null
// column: implies      list[list[str]]  of two given observables: the narrower, the broader
CALL () {
  UNWIND $observables AS id
  MATCH (:Observable {id: id})<-[r:SHOWS]-(m:Mechanism)
  RETURN collect([m.id, id, r.strength, r.because]) AS shows
}
CALL () {
  UNWIND $observables AS id
  MATCH (o:Observable {id: id})
  RETURN collect([id, o.leak, o.specificity, o.kind]) AS leaks
}
CALL () {
  UNWIND $observables AS id
  MATCH (:Observable {id: id})<-[e:EXPECTS]-(c:FailureClass)
  RETURN collect([c.id, id, e.probability]) AS expects
}
CALL () {
  UNWIND $observables AS id
  MATCH (:Observable {id: id})-[r:REFUTES]->(c:FailureClass)
  RETURN collect([id, c.id, r.when, r.because, r.factor]) AS refutes
}
CALL () {
  UNWIND $observables AS id
  MATCH (:Observable {id: id})-[:IMPLIES*1..3]->(broader:Observable)
  WHERE broader.id IN $observables
  RETURN collect(DISTINCT [id, broader.id]) AS implies
}
RETURN shows, leaks, expects, refutes, implies
