// doc:    All observables as readers of artefacts and prose see them, with what site packs add.
// access: read
// shape:  rows
// column: id           str
// column: kind         str        behaviour, log, event or metric
// column: says         str
// column: source       str
// column: signature    str
// column: multiline    bool
// column: specificity  str
// column: phrases      list[str]  the observable's own, then those of site packs by pack id
// column: negated      list[str]  the same
// column: implies      list[str]  ids of broader observables, sorted
CALL () {
  MATCH (p:Pack)-[a:ADJUSTS]->(o:Observable)
  WITH p.id AS pack, o.id AS id, coalesce(a.phrases, []) AS phrases, coalesce(a.negated, []) AS negated
  ORDER BY pack, id
  RETURN collect({id: id, phrases: phrases, negated: negated}) AS adjustments
}
CALL () {
  MATCH (o:Observable)-[:IMPLIES]->(broader:Observable)
  WITH o.id AS id, broader.id AS broader
  ORDER BY id, broader
  RETURN collect({id: id, broader: broader}) AS implications
}
MATCH (o:Observable)
WITH o, [a IN adjustments WHERE a.id = o.id] AS adjustments,
     [i IN implications WHERE i.id = o.id | i.broader] AS implies
RETURN o.id AS id, o.kind AS kind, o.says AS says, o.source AS source, o.signature AS signature,
       coalesce(o.multiline, false) AS multiline, o.specificity AS specificity,
       reduce(phrases = coalesce(o.phrases, []), a IN adjustments | phrases + a.phrases) AS phrases,
       reduce(negated = coalesce(o.negated, []), a IN adjustments | negated + a.negated) AS negated,
       implies
ORDER BY id
