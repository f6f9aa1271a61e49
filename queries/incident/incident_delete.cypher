// doc:    Forget one incident with its evidence ledger; knowledge stays.
// access: write
// shape:  none
// param:  incident_id  str
MATCH (i:Incident {id: $incident_id})
OPTIONAL MATCH (i)-[:HOLDS]->(a:Artefact)
DETACH DELETE i, a
