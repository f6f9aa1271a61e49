// doc:    Every node that a pack owns, the packs included, with all its properties.
// access: read
// shape:  rows
// column: labels      list[str]
// column: properties  json
MATCH (n:Pack|Layer|Mechanism|Observable|FailureClass|Presentation|Circumstance|Narrative|Check|Remedy|Prevention|Source)
RETURN labels(n) AS labels, properties(n) AS properties
ORDER BY n.id
