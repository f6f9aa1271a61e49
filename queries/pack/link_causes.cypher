// doc:    Store how mechanisms spread; learnt counts stay, a null removes the property.
// access: write
// shape:  none
// param:  rows  list[json]  source, target, id and properties of the relationships
UNWIND $rows AS row
MATCH (source:Mechanism {id: row.source})
MATCH (target:Mechanism {id: row.target})
MERGE (source)-[r:CAUSES {id: row.id}]->(target)
SET r += row.properties
