// doc:    What an answer shows of these classes beside their score.
// access: read
// shape:  rows
// param:  class_ids      list[str]
// column: class_id       str
// column: summary        str
// column: remedies       list[str]        texts, in the order of the pack
// column: preventions    list[str]        texts, in the order of the pack
// column: sources        list[str]        locators, in the order of the pack
// column: checks         list[json]       id, command, cost, safe, read_it, reveals; by id
// column: chain          list[list[any]]  steps of the class's own chain: cause, effect, strength; sorted
// column: expects        list[list[any]]  observable, probability, word or null; by observable
// column: presentations  list[json]       name, description, shows, lacks; by name
CALL () {
  MATCH (a:Mechanism)-[r:CAUSES]->(b:Mechanism)
  WITH a.id AS cause, b.id AS effect, r.strength AS strength, [id IN $class_ids WHERE id IN r.classes] AS classes
  WHERE size(classes) > 0
  WITH cause, effect, strength, classes
  ORDER BY cause, effect
  RETURN collect({classes: classes, step: [cause, effect, strength]}) AS steps
}
UNWIND $class_ids AS id
WITH DISTINCT steps, id
MATCH (c:FailureClass {id: id})
WITH c, [s IN steps WHERE c.id IN s.classes | s.step] AS chain,
     COLLECT { MATCH (c)-[:REPAIRED_BY]->(r:Remedy) RETURN r.text ORDER BY size(r.id), r.id } AS remedies,
     COLLECT { MATCH (c)-[:PREVENTED_BY]->(p:Prevention) RETURN p.text ORDER BY size(p.id), p.id } AS preventions,
     COLLECT { MATCH (c)-[r:CITED_FROM]->(s:Source) RETURN s.locator ORDER BY r.position, s.id } AS sources,
     COLLECT {
       MATCH (c)-[:CHECKED_BY]->(k:Check)
       RETURN {id: k.id, command: k.command, cost: k.cost, safe: k.safe, read_it: k.read_it,
               reveals: COLLECT { MATCH (k)-[:REVEALS]->(t) RETURN t.id ORDER BY t.id }}
       ORDER BY k.id
     } AS checks,
     COLLECT {
       MATCH (c)-[e:EXPECTS]->(o:Observable)
       RETURN [o.id, e.probability, e.word] ORDER BY o.id
     } AS expects,
     COLLECT {
       MATCH (c)-[:PRESENTS_AS]->(p:Presentation)
       RETURN {name: p.name, description: p.description,
               shows: COLLECT { MATCH (p)-[:INCLUDES]->(o:Observable) RETURN o.id ORDER BY o.id },
               lacks: COLLECT { MATCH (p)-[:LACKS]->(o:Observable) RETURN o.id ORDER BY o.id }}
       ORDER BY p.id
     } AS presentations
RETURN c.id AS class_id, c.summary AS summary, remedies, preventions, sources, checks, chain, expects, presentations
ORDER BY class_id
