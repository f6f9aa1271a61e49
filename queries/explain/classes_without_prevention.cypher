// doc:    Accepted faults for which nothing is known that stops them coming back.
// access: read
// shape:  rows
// param:  kind      str = "fault"  fault or benign
// column: class_id  str
// column: name      str
// column: kind      str
// column: layer     str            layer of the root mechanism
// column: remedies  int            repairs that are known
MATCH (c:FailureClass)
WHERE c.kind = $kind AND NOT EXISTS { MATCH (c)-[:PREVENTED_BY]->(:Prevention) }
WITH c, coalesce(head(COLLECT {
  MATCH (p:Pack)-[a:ADJUSTS]->(c)
  WHERE a.status IS NOT NULL
  RETURN a.status ORDER BY p.id DESC LIMIT 1
}), c.status) AS status
WHERE status = 'accepted'
MATCH (c)-[:ROOTED_IN]->(:Mechanism)-[:AT]->(l:Layer)
RETURN c.id AS class_id, c.name AS name, c.kind AS kind, l.id AS layer,
       COUNT { (c)-[:REPAIRED_BY]->(:Remedy) } AS remedies
ORDER BY class_id
