// doc:    A class's failure graph: the steps of its own chain, and what each of them shows that the class is known for.
// access: read
// shape:  rows
// param:  class_id    str
// column: from_id     str
// column: from_name   str
// column: from_layer  str
// column: relation    str    CAUSES or SHOWS
// column: to_id       str
// column: to_name     str    name of the mechanism, plain meaning of the observable
// column: to_layer    str?   of the mechanism
// column: to_kind     str    mechanism, or the observable's kind
// column: strength    float
// column: word        str?   the expert's word for how often the class shows the observable
CALL () {
  MATCH (:FailureClass {id: $class_id})-[:ROOTED_IN]->(root:Mechanism)
  RETURN root.id AS id
  UNION
  MATCH (a:Mechanism)-[r:CAUSES]->(b:Mechanism)
  WHERE $class_id IN r.classes
  UNWIND [a.id, b.id] AS id
  RETURN id
}
WITH collect(id) AS chain
CALL (chain) {
  MATCH (a:Mechanism)-[r:CAUSES]->(b:Mechanism)-[:AT]->(l:Layer)
  WHERE $class_id IN r.classes
  RETURN a, 'CAUSES' AS relation, b.id AS to_id, b.name AS to_name, l.id AS to_layer, 'mechanism' AS to_kind,
         r.strength AS strength, null AS word
  UNION ALL
  MATCH (:FailureClass {id: $class_id})-[e:EXPECTS]->(o:Observable)
  WHERE e.word IS NOT NULL
  WITH chain, e, o
  MATCH (o)<-[s:SHOWS]-(a:Mechanism)
  WHERE a.id IN chain
  RETURN a, 'SHOWS' AS relation, o.id AS to_id, o.says AS to_name, null AS to_layer, o.kind AS to_kind,
         s.strength AS strength, e.word AS word
}
MATCH (a)-[:AT]->(l:Layer)
RETURN a.id AS from_id, a.name AS from_name, l.id AS from_layer, relation, to_id, to_name, to_layer, to_kind,
       strength, word
ORDER BY relation, from_id, to_id
