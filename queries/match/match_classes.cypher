// doc:    Rank of all accepted classes for what was seen and what was looked for in vain, computed in the database.
// access: read
// shape:  rows
// param:  present     list[str]          ids of the observables that were seen
// param:  absent      list[str] = []     ids of those that were looked for where they would show, and not seen
// param:  none_prior  float = 0.15       prior probability that none of the classes is the cause
// param:  limit       int = 200          most rows to return
// column: class_id    str
// column: name        str
// column: log_score   float              ln of the class's prior share plus all log ratios
// column: probability float              what the rows lack to 1 is the probability that none of the classes fits
// column: supported   list[str]          seen observables that the class makes likelier than they are on average

// Naive Bayes over EXPECTS. P is P(observable | class), the observable's leak where EXPECTS is silent; q is the mean
// of P over the classes, weighted by prior. A class gets ln(P/q) for what was seen and ln((1-P)/(1-q)) for what was
// not; "none" explains everything with q, so its log ratios are 0. ln(P/q) is ln(leak/q), the same for every class,
// plus ln(P/leak), which is 0 where EXPECTS is silent: so only the stored pairs are visited.
// The exact inference, which knows that two traces of one mechanism are one witness, is in Python; this ranking
// needs nothing but the graph.

// What site packs say wins over the class's own values; of several packs the one with the greatest id.
CALL () {
  MATCH (p:Pack)-[a:ADJUSTS]->(c:FailureClass)
  WITH p.id AS pack, c.id AS id, a.prior AS prior, a.status AS status
  ORDER BY pack DESC, id
  RETURN collect({id: id, prior: prior, status: status}) AS adjustments
}
WITH adjustments, reduce(ids = [], id IN $present | CASE WHEN id IN ids THEN ids ELSE ids + id END) AS present
CALL (present) {
  MATCH (class:FailureClass)
  RETURN class, null AS seen, null AS sought, 0.0 AS refutation
  UNION ALL
  UNWIND range(0, size(present) - 1) AS place
  WITH present[place] AS id, place
  MATCH (o:Observable {id: id})<-[e:EXPECTS]-(class:FailureClass)
  WITH class, place, o.leak AS leak, CASE WHEN e.probability < 0.999999 THEN e.probability ELSE 0.999999 END AS p
  RETURN class, {place: place, leak: leak, p: p} AS seen, null AS sought, 0.0 AS refutation
  UNION ALL
  UNWIND $absent AS id
  WITH DISTINCT id
  MATCH (o:Observable {id: id})<-[e:EXPECTS]-(class:FailureClass)
  WITH class, id, o.leak AS leak, CASE WHEN e.probability < 0.999999 THEN e.probability ELSE 0.999999 END AS p
  RETURN class, null AS seen, {id: id, leak: leak, p: p} AS sought, 0.0 AS refutation
  UNION ALL
  UNWIND present AS id
  MATCH (:Observable {id: id})-[r:REFUTES {when: 'present'}]->(class:FailureClass)
  WITH class, coalesce(r.factor, 0.2) AS factor
  RETURN class, null AS seen, null AS sought,
         CASE WHEN factor < 0.02 THEN log(0.02) ELSE log(factor) END AS refutation
}
WITH adjustments, present, class, collect(seen) AS seen, collect(sought) AS sought, sum(refutation) AS refutation
WITH present, class, seen, sought, refutation,
     coalesce(head([a IN adjustments WHERE a.id = class.id AND a.prior IS NOT NULL | a.prior]), class.prior) AS prior,
     coalesce(head([a IN adjustments WHERE a.id = class.id AND a.status IS NOT NULL | a.status]), class.status)
       AS status
WHERE status = 'accepted'
WITH present, collect({id: class.id, name: class.name, prior: prior, seen: seen, sought: sought,
              refutation: CASE WHEN refutation < log(0.02) THEN log(0.02) ELSE refutation END}) AS classes,
     sum(prior) AS total

// The mean q of each observable, and what all classes share.
CALL (classes, total) {
  UNWIND classes AS class
  UNWIND class.seen AS s
  WITH s.place AS place, s.leak AS leak, sum(class.prior / total * (s.p - s.leak)) AS lift
  RETURN collect({place: place, q: leak + lift}) AS rates, sum(log(leak / (leak + lift))) AS shared_by_seen
}
CALL (classes, total) {
  UNWIND classes AS class
  UNWIND class.sought AS s
  WITH s.id AS id, s.leak AS leak, sum(class.prior / total * (s.p - s.leak)) AS lift
  RETURN sum(log((1.0 - leak) / (1.0 - leak - lift))) AS shared_by_sought
}
WITH present, classes, total, shared_by_seen, shared_by_sought,
     [place IN range(0, size(present) - 1) | head([r IN rates WHERE r.place = place | r.q])] AS q
UNWIND classes AS class
WITH class.id AS class_id, class.name AS name,
     log((1.0 - $none_prior) * class.prior / total) + shared_by_seen + shared_by_sought + class.refutation
       + reduce(sum = 0.0, s IN class.seen | sum + log(s.p / s.leak))
       + reduce(sum = 0.0, s IN class.sought | sum + log((1.0 - s.p) / (1.0 - s.leak))) AS log_score,
     [s IN class.seen WHERE s.p > q[s.place] | present[s.place]] AS supported

// Softmax over the classes and "none".
WITH collect({class_id: class_id, name: name, log_score: log_score, supported: supported}) AS ranked,
     max(log_score) AS best
WITH ranked, CASE WHEN best > log($none_prior) THEN best ELSE log($none_prior) END AS top
WITH ranked, top,
     reduce(sum = exp(log($none_prior) - top), r IN ranked | sum + exp(r.log_score - top)) AS evidence
UNWIND ranked AS r
RETURN r.class_id AS class_id, r.name AS name, r.log_score AS log_score,
       exp(r.log_score - top) / evidence AS probability, r.supported AS supported
ORDER BY round(log_score, 9) DESC, class_id
LIMIT $limit
