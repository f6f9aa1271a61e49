// doc:    Every node of failgraph but its record of migrations, for a backup.
// access: read
// shape:  stream
// column: labels      list[str]
// column: properties  json
MATCH (n:Layer|Mechanism|Observable|FailureClass|Presentation|Circumstance|Narrative|Check|Remedy|
         Prevention|Source|Pack|Catalogue|Incident|Artefact|Entity)
RETURN labels(n) AS labels, properties(n) AS properties
