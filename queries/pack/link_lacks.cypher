// doc:    Store what presentations do not show; learnt counts stay, a null removes the property.
// access: write
// shape:  none
// param:  rows  list[json]  source, target, id and properties of the relationships
UNWIND $rows AS row
MATCH (source:Presentation {id: row.source})
MATCH (target:Observable {id: row.target})
MERGE (source)-[r:LACKS {id: row.id}]->(target)
SET r += row.properties
