// doc:    Checks that tell these classes apart best: the observables they reveal differ most among the classes.
// access: read
// shape:  rows
// param:  class_ids    list[str] = []  the classes in question; none: all accepted ones
// param:  limit        int = 10        most rows to return
// column: check_id     str
// column: command      str
// column: cost         str             seconds, minutes, hours or drain
// column: safe         bool
// column: information  float           sum over what it reveals of the nats one look is worth on average
// column: reveals      list[str]       the five observables that tell most, best first
// column: read_it      str

// What one look at an observable is worth is its mutual information with the cause, all classes in question being
// equally likely: the entropy of its mean probability minus the mean of its entropies. Observables are summed as if
// they were independent, so the sum ranks checks and is no exact figure.
MATCH (c:FailureClass)
WHERE size($class_ids) = 0 OR c.id IN $class_ids
WITH c, coalesce(head(COLLECT {
  MATCH (p:Pack)-[a:ADJUSTS]->(c)
  WHERE a.status IS NOT NULL
  RETURN a.status ORDER BY p.id DESC LIMIT 1
}), c.status) AS status
WHERE status = 'accepted'
WITH collect(c) AS classes
UNWIND classes AS c
MATCH (c)-[e:EXPECTS]->(o:Observable)
WHERE e.probability < 1.0
WITH size(classes) AS size, o, e.probability AS p, o.leak AS leak
WITH size, o, leak, count(p) AS expecting, sum(p) AS probabilities,
     sum(-p * log(p) - (1.0 - p) * log(1.0 - p)) AS entropies
WITH o, (probabilities + (size - expecting) * leak) / size AS mean,
     (entropies + (size - expecting) * (-leak * log(leak) - (1.0 - leak) * log(1.0 - leak))) / size AS mean_entropy
WITH o, round(-mean * log(mean) - (1.0 - mean) * log(1.0 - mean) - mean_entropy, 12) AS information
WHERE information > 0.0
MATCH (o)<-[:REVEALS]-(k:Check)
WITH k, o, information
ORDER BY information DESC, o.id
WITH k, sum(information) AS information, collect(o.id) AS observables
RETURN k.id AS check_id, k.command AS command, k.cost AS cost, k.safe AS safe, information,
       observables[0..5] AS reveals, k.read_it AS read_it
ORDER BY information DESC, check_id
LIMIT $limit
