// doc:    Everything the exact inference needs for these observables, in one row; the lists are in no fixed order.
// access: read
// shape:  row
// param:  observables  list[str]        ids; unknown ones are left out
// column: classes      list[json]       accepted classes: id, name, kind, prior, root, layer, aliases
// column: mechanisms   list[list[str]]  every mechanism: id, layer
// column: causes       list[list[any]]  steps of accepted classes: cause, effect, strength
// column: shows        list[list[any]]  mechanism, observable, strength, because or null
// column: leaks        list[list[any]]  observable, leak, specificity, kind
// column: expects      list[list[any]]  class, observable, probability
// column: refutes      list[list[any]]  observable, class, when, because, factor or null
// column: implies      list[list[str]]  of two given observables: the narrower, the broader

// All steps are returned, not only those that lead to the observables: there are a few hundred, and to follow them
// here would cost more than to send them. Sorting is left to the reader for the same reason.
// What site packs say wins over the class's own values; of several packs the one with the greatest id.
CALL () {
  MATCH (p:Pack)-[a:ADJUSTS]->(c:FailureClass)
  WITH p.id AS pack, c.id AS id, a.prior AS prior, a.status AS status
  ORDER BY pack DESC, id
  RETURN collect({id: id, prior: prior, status: status}) AS adjustments
}
CALL (adjustments) {
  MATCH (c:FailureClass)-[:ROOTED_IN]->(m:Mechanism)-[:AT]->(l:Layer)
  WITH c, m, l,
       coalesce(head([a IN adjustments WHERE a.id = c.id AND a.prior IS NOT NULL | a.prior]), c.prior) AS prior,
       coalesce(head([a IN adjustments WHERE a.id = c.id AND a.status IS NOT NULL | a.status]), c.status) AS status
  WHERE status = 'accepted'
  RETURN collect({id: c.id, name: c.name, kind: c.kind, prior: prior, root: m.id, layer: l.id,
                  aliases: coalesce(c.aliases, [])}) AS classes
}
CALL () {
  MATCH (m:Mechanism)-[:AT]->(l:Layer)
  RETURN collect([m.id, l.id]) AS mechanisms
}
CALL (classes) {
  WITH [c IN classes | c.id] AS accepted
  MATCH (a:Mechanism)-[r:CAUSES]->(b:Mechanism)
  WHERE any(id IN r.classes WHERE id IN accepted)
  RETURN collect([a.id, b.id, r.strength]) AS causes
}
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
RETURN classes, mechanisms, causes, shows, leaks, expects, refutes, implies
