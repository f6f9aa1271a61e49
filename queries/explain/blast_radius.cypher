// doc:    Everything a mechanism can bring about: mechanisms downstream and the observables they show, nearest first.
// access: read
// shape:  rows
// param:  mechanism  str        id of the mechanism
// param:  hops       int = 16   most steps away, at most 16
// column: distance   int        fewest steps from the mechanism; an observable is one step from what shows it
// column: kind       str        mechanism or observable
// column: id         str
// column: name       str        name of the mechanism, plain meaning of the observable
// column: layer      str?       of the mechanism
CALL () {
  MATCH path = (:Mechanism {id: $mechanism})-[:CAUSES*0..16]->(m:Mechanism)
  WITH m, min(length(path)) AS steps
  RETURN collect({m: m, steps: steps}) AS reached
}
CALL (reached) {
  UNWIND reached AS r
  WITH r.m AS m, r.steps AS distance
  MATCH (m)-[:AT]->(l:Layer)
  RETURN distance, 'mechanism' AS kind, m.id AS id, m.name AS name, l.id AS layer
  UNION ALL
  UNWIND reached AS r
  WITH r.m AS m, r.steps AS steps
  MATCH (m)-[:SHOWS]->(o:Observable)
  WITH o, min(steps) + 1 AS distance
  RETURN distance, 'observable' AS kind, o.id AS id, o.says AS name, null AS layer
}
WITH distance, kind, id, name, layer
WHERE distance <= $hops
RETURN distance, kind, id, name, layer
ORDER BY distance, kind, id
