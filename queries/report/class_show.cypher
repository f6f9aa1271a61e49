// doc:    Everything known of one class.
// access: read
// shape:  row
// param:  class_id       str
// column: id             str
// column: name           str
// column: summary        str
// column: kind           str              fault or benign
// column: status         str              as site packs leave it
// column: prior          float            as site packs leave it
// column: revision       int
// column: aliases        list[str]
// column: pack           str
// column: note           str?
// column: layer          str              of the root mechanism
// column: root           json             the root mechanism: id, name
// column: mechanisms     list[json]       of its own chain: id, name, layer; by layer and id
// column: chain          list[list[any]]  steps of its own chain: cause, effect, strength; sorted
// column: expects        list[json]       observable, says, kind, specificity, probability, word; likeliest first
// column: refuters       list[json]       observable, says, when, because, factor; by observable
// column: presentations  list[json]       name, description, shows, lacks; by id
// column: circumstances  list[json]       id, means, probability; likeliest first
// column: checks         list[json]       id, command, cost, safe, read_it; by id
// column: remedies       list[str]        in the order of the pack
// column: preventions    list[str]        in the order of the pack
// column: sources        list[str]        in the order of the pack
// column: specialises    list[str]        ids of broader classes
MATCH (c:FailureClass {id: $class_id})-[:ROOTED_IN]->(root:Mechanism)-[:AT]->(layer:Layer)
WITH c, root, layer, COLLECT {
  MATCH (p:Pack)-[a:ADJUSTS]->(c)
  RETURN {prior: a.prior, status: a.status} ORDER BY p.id DESC
} AS adjustments, COLLECT {
  MATCH (a:Mechanism)-[r:CAUSES]->(b:Mechanism)
  WHERE $class_id IN r.classes
  RETURN [a.id, b.id, r.strength] ORDER BY a.id, b.id
} AS chain
WITH c, root, layer, adjustments, chain,
     reduce(ids = [root.id], step IN chain | ids + [step[0], step[1]]) AS in_chain
WITH c, root, layer, adjustments, chain, COLLECT {
  MATCH (m:Mechanism)-[:AT]->(l:Layer)
  WHERE m.id IN in_chain
  RETURN {id: m.id, name: m.name, layer: l.id} ORDER BY l.rank, m.id
} AS mechanisms, COLLECT {
  MATCH (c)-[e:EXPECTS]->(o:Observable)
  RETURN {observable: o.id, says: o.says, kind: o.kind, specificity: o.specificity,
          probability: e.probability, word: e.word}
  ORDER BY e.probability DESC, o.id
} AS expects, COLLECT {
  MATCH (o:Observable)-[r:REFUTES]->(c)
  RETURN {observable: o.id, says: o.says, when: r.when, because: r.because, factor: r.factor}
  ORDER BY o.id, r.when
} AS refuters, COLLECT {
  MATCH (c)-[:PRESENTS_AS]->(p:Presentation)
  RETURN {name: p.name, description: p.description,
          shows: COLLECT { MATCH (p)-[:INCLUDES]->(o:Observable) RETURN o.id ORDER BY o.id },
          lacks: COLLECT { MATCH (p)-[:LACKS]->(o:Observable) RETURN o.id ORDER BY o.id }}
  ORDER BY p.id
} AS presentations, COLLECT {
  MATCH (c)-[r:COMES_WITH]->(k:Circumstance)
  RETURN {id: k.id, means: k.means, probability: r.probability} ORDER BY r.probability DESC, k.id
} AS circumstances, COLLECT {
  MATCH (c)-[:CHECKED_BY]->(k:Check)
  RETURN {id: k.id, command: k.command, cost: k.cost, safe: k.safe, read_it: k.read_it} ORDER BY k.id
} AS checks, COLLECT {
  MATCH (c)-[:REPAIRED_BY]->(r:Remedy) RETURN r.text ORDER BY size(r.id), r.id
} AS remedies, COLLECT {
  MATCH (c)-[:PREVENTED_BY]->(p:Prevention) RETURN p.text ORDER BY size(p.id), p.id
} AS preventions, COLLECT {
  MATCH (c)-[r:CITED_FROM]->(s:Source) RETURN s.locator ORDER BY r.position, s.id
} AS sources, COLLECT {
  MATCH (c)-[:SPECIALISES]->(broader:FailureClass) RETURN broader.id ORDER BY broader.id
} AS specialises
RETURN c.id AS id, c.name AS name, c.summary AS summary, c.kind AS kind,
       coalesce(head([a IN adjustments WHERE a.status IS NOT NULL | a.status]), c.status) AS status,
       coalesce(head([a IN adjustments WHERE a.prior IS NOT NULL | a.prior]), c.prior) AS prior,
       c.revision AS revision, coalesce(c.aliases, []) AS aliases, c.pack AS pack, c.note AS note,
       layer.id AS layer, {id: root.id, name: root.name} AS root, mechanisms, chain, expects, refuters,
       presentations, circumstances, checks, remedies, preventions, sources, specialises
