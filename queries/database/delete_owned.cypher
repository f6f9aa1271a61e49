// doc:    Deletes some nodes of failgraph with their relationships; nothing that carries other labels only.
// access: write
// shape:  value
// param:  limit    int = 5000  most nodes to delete at once
// column: deleted  int         how many were
MATCH (n:Layer|Mechanism|Observable|FailureClass|Presentation|Circumstance|Narrative|Check|Remedy|
         Prevention|Source|Pack|Catalogue|Incident|Artefact|Entity)
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(n) AS deleted
