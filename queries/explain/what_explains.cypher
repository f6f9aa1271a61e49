// doc:    Which classes explain this observable, likeliest first.
// access: read
// shape:  rows
// param:  symptom      str         id of the observable
// param:  limit        int = 20    most rows to return
// column: class_id     str
// column: name         str
// column: kind         str         fault or benign
// column: probability  float       that it is seen when the class is the cause
// column: lift         float       probability over the observable's leak
// column: share        float       of this class among all that explain it, by prior and probability
// column: word         str?        what the expert said of the pair
// column: specificity  str         of the observable
MATCH (o:Observable {id: $symptom})<-[e:EXPECTS]-(c:FailureClass)
WITH o, e, c, COLLECT {
  MATCH (p:Pack)-[a:ADJUSTS]->(c)
  RETURN {prior: a.prior, status: a.status} ORDER BY p.id DESC
} AS adjustments
WITH o, e, c,
     coalesce(head([a IN adjustments WHERE a.prior IS NOT NULL | a.prior]), c.prior) AS prior,
     coalesce(head([a IN adjustments WHERE a.status IS NOT NULL | a.status]), c.status) AS status
WHERE status = 'accepted'
WITH o, collect({class: c, probability: e.probability, word: e.word, weight: prior * e.probability}) AS found,
     sum(prior * e.probability) AS total
UNWIND found AS f
WITH o, total, f, f.class AS c
RETURN c.id AS class_id, c.name AS name, c.kind AS kind, f.probability AS probability,
       f.probability / o.leak AS lift, f.weight / total AS share, f.word AS word, o.specificity AS specificity
ORDER BY probability DESC, class_id
LIMIT $limit
