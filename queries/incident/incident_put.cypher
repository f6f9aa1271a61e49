// doc:    Store one incident with its evidence ledger; what is stored already under its id stays as it is.
// access: write
// shape:  none
// param:  incident  json        properties of the incident; id, title and status are needed
// param:  findings  list[json]  observable or circumstance, state, confidence, coverage; first, last, count if known

// One finding is kept per observable: the first of the list.
MERGE (i:Incident {id: $incident.id})
ON CREATE SET i += $incident, i.space = coalesce($incident.space, 'default')
WITH i
UNWIND $findings AS finding
CALL (i, finding) {
  WITH i, finding
  WHERE finding.observable IS NOT NULL
  MATCH (o:Observable {id: finding.observable})
  MERGE (i)-[f:FOUND {id: 'FOUND:' + i.id + '>' + o.id}]->(o)
  ON CREATE SET f.space = i.space, f.state = finding.state, f.confidence = finding.confidence,
                f.coverage = finding.coverage, f.first = finding.first, f.last = finding.last,
                f.count = coalesce(finding.count, 1)
}
CALL (i, finding) {
  WITH i, finding
  WHERE finding.circumstance IS NOT NULL
  MATCH (c:Circumstance {id: finding.circumstance})
  MERGE (i)-[f:FOUND {id: 'FOUND:' + i.id + '>' + c.id}]->(c)
  ON CREATE SET f.space = i.space, f.state = finding.state, f.confidence = finding.confidence,
                f.coverage = finding.coverage, f.first = finding.first, f.last = finding.last,
                f.count = coalesce(finding.count, 1)
}
