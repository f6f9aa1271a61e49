// doc:    One stored incident with its evidence ledger.
// access: read
// shape:  row
// param:  incident_id  str
// param:  spaces       list[str] = ["default"]  spaces to look into
// column: id           str
// column: space        str
// column: title        str
// column: status       str
// column: opened       str?
// column: closed       str?
// column: context      str?                     JSON object
// column: checksum     str?
// column: findings     list[json]               subject, state, confidence, coverage, first, last, count; by subject
// column: causes       list[str]                confirmed classes, sorted
MATCH (i:Incident {id: $incident_id})
WHERE i.space IN $spaces
WITH i, COLLECT {
  MATCH (i)-[f:FOUND]->(subject)
  RETURN {subject: subject.id, state: f.state, confidence: f.confidence, coverage: f.coverage,
          first: f.first, last: f.last, count: f.count}
  ORDER BY subject.id
} AS findings, COLLECT {
  MATCH (i)-[:INSTANCE_OF]->(c:FailureClass) RETURN c.id ORDER BY c.id
} AS causes
RETURN i.id AS id, i.space AS space, i.title AS title, i.status AS status, i.opened AS opened, i.closed AS closed,
       i.context AS context, i.checksum AS checksum, findings, causes
