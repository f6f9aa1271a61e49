// doc:    How many nodes of each label failgraph has stored.
// access: read
// shape:  rows
// column: label  str
// column: nodes  int
MATCH (n:Layer|Mechanism|Observable|FailureClass|Presentation|Circumstance|Narrative|Check|Remedy|
         Prevention|Source|Pack|Catalogue|Incident|Artefact|Entity)
UNWIND labels(n) AS label
RETURN label, count(*) AS nodes ORDER BY label
