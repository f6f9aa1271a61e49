// doc:    Which of these observables, circumstances and classes stored incidents refer to, and how many.
// access: read
// shape:  rows
// param:  ids        list[str]
// column: labels     list[str]
// column: id         str
// column: incidents  int
MATCH (n:Observable|Circumstance|FailureClass)<-[r:FOUND|INSTANCE_OF]-(:Incident)
WHERE n.id IN $ids
WITH n, count(r) AS incidents
RETURN labels(n) AS labels, n.id AS id, incidents
ORDER BY id
