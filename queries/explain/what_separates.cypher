// doc:    Which observables tell two classes apart, most telling first.
// access: read
// shape:  rows
// param:  class_a        str
// param:  class_b        str
// param:  limit          int = 20  most rows to return
// column: observable_id  str
// column: says           str
// column: probability_a  float     that it is seen when class_a is the cause
// column: probability_b  float     that it is seen when class_b is the cause
// column: log_ratio      float     ln(probability_a / probability_b): what seeing it says for class_a
// column: information    float     nats one look is worth on average, if one of the two is the cause
// column: checks         list[str] checks that reveal it, sorted

// information is the mean of both Kullback-Leibler divergences: large where a look is both telling and likely to tell.
MATCH (c:FailureClass)-[e:EXPECTS]->(o:Observable)
WHERE c.id IN [$class_a, $class_b]
WITH o, max(CASE WHEN c.id = $class_a THEN e.probability END) AS a,
     max(CASE WHEN c.id = $class_b THEN e.probability END) AS b
WITH o, coalesce(a, o.leak) AS probability_a, coalesce(b, o.leak) AS probability_b
WHERE probability_a <> probability_b AND probability_a < 1.0 AND probability_b < 1.0
WITH o, probability_a, probability_b, log(probability_a / probability_b) AS log_ratio,
     log((1.0 - probability_a) / (1.0 - probability_b)) AS silence_ratio
WITH o, probability_a, probability_b, log_ratio,
     (probability_a - probability_b) * (log_ratio - silence_ratio) / 2.0 AS information
ORDER BY information DESC, o.id
LIMIT $limit
WITH o, probability_a, probability_b, log_ratio, information,
     COLLECT { MATCH (o)<-[:REVEALS]-(k:Check) RETURN k.id ORDER BY k.id } AS checks
RETURN o.id AS observable_id, o.says AS says, probability_a, probability_b, log_ratio, information, checks
ORDER BY information DESC, observable_id
