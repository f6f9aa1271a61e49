// doc:    All classes, by layer of their root mechanism.
// access: read
// shape:  rows
// param:  layer   str?   only this layer
// column: id      str
// column: name    str
// column: layer   str
// column: kind    str    fault or benign
// column: status  str    proposed, accepted or retired, as site packs leave it
// column: prior   float  as site packs leave it
// column: pack    str
MATCH (c:FailureClass)-[:ROOTED_IN]->(:Mechanism)-[:AT]->(l:Layer)
WHERE $layer IS NULL OR l.id = $layer
WITH c, l, COLLECT {
  MATCH (p:Pack)-[a:ADJUSTS]->(c)
  RETURN {prior: a.prior, status: a.status} ORDER BY p.id DESC
} AS adjustments
RETURN c.id AS id, c.name AS name, l.id AS layer, c.kind AS kind,
       coalesce(head([a IN adjustments WHERE a.status IS NOT NULL | a.status]), c.status) AS status,
       coalesce(head([a IN adjustments WHERE a.prior IS NOT NULL | a.prior]), c.prior) AS prior,
       c.pack AS pack
ORDER BY l.rank, id
