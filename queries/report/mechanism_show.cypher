// doc:    Everything known of one mechanism.
// access: read
// shape:  row
// param:  mechanism_id  str
// column: id            str
// column: name          str
// column: summary       str?
// column: note          str?
// column: pack          str
// column: layer         str
// column: causes        list[json]  id, name, layer, strength; strongest first
// column: caused_by     list[json]  id, name, layer, strength; strongest first
// column: shows         list[json]  observable, says, kind, strength, word; strongest first
// column: rooted        list[str]   classes that start here
// column: classes       list[str]   classes whose own chain has it, those that start here included
MATCH (m:Mechanism {id: $mechanism_id})-[:AT]->(layer:Layer)
WITH m, layer, COLLECT {
  MATCH (m)-[r:CAUSES]->(next:Mechanism)-[:AT]->(l:Layer)
  RETURN {id: next.id, name: next.name, layer: l.id, strength: r.strength} ORDER BY r.strength DESC, next.id
} AS causes, COLLECT {
  MATCH (m)<-[r:CAUSES]-(previous:Mechanism)-[:AT]->(l:Layer)
  RETURN {id: previous.id, name: previous.name, layer: l.id, strength: r.strength}
  ORDER BY r.strength DESC, previous.id
} AS caused_by, COLLECT {
  MATCH (m)-[s:SHOWS]->(o:Observable)
  RETURN {observable: o.id, says: o.says, kind: o.kind, strength: s.strength, word: s.word}
  ORDER BY s.strength DESC, o.id
} AS shows, COLLECT {
  MATCH (m)<-[:ROOTED_IN]-(c:FailureClass) RETURN c.id ORDER BY c.id
} AS rooted
WITH m, layer, causes, caused_by, shows, rooted, COLLECT {
  MATCH (m)-[r:CAUSES]-(:Mechanism)
  UNWIND r.classes AS id
  WITH DISTINCT id
  WHERE NOT id IN rooted
  RETURN id ORDER BY id
} AS others
WITH m, layer, causes, caused_by, shows, rooted, COLLECT { UNWIND rooted + others AS id RETURN id ORDER BY id } AS classes
RETURN m.id AS id, m.name AS name, m.summary AS summary, m.note AS note, m.pack AS pack, layer.id AS layer,
       causes, caused_by, shows, rooted, classes
