// doc:    All mechanisms, by layer.
// access: read
// shape:  rows
// param:  layer    str?  only this layer
// column: id       str
// column: name     str
// column: layer    str
// column: causes   int   mechanisms it can bring about directly
// column: shows    int   observables it shows
// column: classes  int   classes that start here
// column: pack     str
MATCH (m:Mechanism)-[:AT]->(l:Layer)
WHERE $layer IS NULL OR l.id = $layer
RETURN m.id AS id, m.name AS name, l.id AS layer,
       COUNT { (m)-[:CAUSES]->(:Mechanism) } AS causes,
       COUNT { (m)-[:SHOWS]->(:Observable) } AS shows,
       COUNT { (m)<-[:ROOTED_IN]-(:FailureClass) } AS classes,
       m.pack AS pack
ORDER BY l.rank, id
