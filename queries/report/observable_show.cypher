// doc:    Everything known of one observable.
// access: read
// shape:  row
// param:  observable_id  str
// column: id             str
// column: kind           str
// column: says           str
// column: source         str
// column: signature      str
// column: multiline      bool
// column: specificity    str
// column: leak           float
// column: verified       bool
// column: verification   str?
// column: seen_in        str?
// column: because        str?
// column: phrases        list[str]        its own, then those of site packs
// column: negated        list[str]        its own, then those of site packs
// column: examples       list[str]
// column: not_examples   list[str]
// column: metric         str?             the parsed metric signature, as JSON
// column: note           str?
// column: pack           str
// column: shown_by       list[json]       mechanism, name, layer, strength, word, because; strongest first
// column: classes        list[list[any]]  class, probability, word or null; likeliest first
// column: refutes        list[json]       class, when, because, factor; by class
// column: checks         list[json]       id, command, cost, safe, read_it; by id
// column: implies        list[str]        broader observables
// column: implied_by     list[str]        narrower observables
MATCH (o:Observable {id: $observable_id})
WITH o, COLLECT {
  MATCH (p:Pack)-[a:ADJUSTS]->(o)
  RETURN {phrases: coalesce(a.phrases, []), negated: coalesce(a.negated, [])} ORDER BY p.id
} AS adjustments, COLLECT {
  MATCH (o)<-[s:SHOWS]-(m:Mechanism)-[:AT]->(l:Layer)
  RETURN {mechanism: m.id, name: m.name, layer: l.id, strength: s.strength, word: s.word, because: s.because}
  ORDER BY s.strength DESC, m.id
} AS shown_by, COLLECT {
  MATCH (o)<-[e:EXPECTS]-(c:FailureClass)
  RETURN [c.id, e.probability, e.word] ORDER BY e.probability DESC, c.id
} AS classes, COLLECT {
  MATCH (o)-[r:REFUTES]->(c:FailureClass)
  RETURN {class: c.id, when: r.when, because: r.because, factor: r.factor} ORDER BY c.id, r.when
} AS refutes, COLLECT {
  MATCH (o)<-[:REVEALS]-(k:Check)
  RETURN {id: k.id, command: k.command, cost: k.cost, safe: k.safe, read_it: k.read_it} ORDER BY k.id
} AS checks, COLLECT {
  MATCH (o)-[:IMPLIES]->(broader:Observable) RETURN broader.id ORDER BY broader.id
} AS implies, COLLECT {
  MATCH (o)<-[:IMPLIES]-(narrower:Observable) RETURN narrower.id ORDER BY narrower.id
} AS implied_by
RETURN o.id AS id, o.kind AS kind, o.says AS says, o.source AS source, o.signature AS signature,
       coalesce(o.multiline, false) AS multiline, o.specificity AS specificity, o.leak AS leak,
       o.verified AS verified, o.verification AS verification, o.seen_in AS seen_in, o.because AS because,
       reduce(phrases = coalesce(o.phrases, []), a IN adjustments | phrases + a.phrases) AS phrases,
       reduce(negated = coalesce(o.negated, []), a IN adjustments | negated + a.negated) AS negated,
       coalesce(o.examples, []) AS examples, coalesce(o.not_examples, []) AS not_examples,
       o.metric AS metric, o.note AS note, o.pack AS pack,
       shown_by, classes, refutes, checks, implies, implied_by
