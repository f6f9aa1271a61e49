// doc:    Store what repairs classes; learnt counts stay, a null removes the property.
// access: write
// shape:  none
// param:  rows  list[json]  source, target, id and properties of the relationships
UNWIND $rows AS row
MATCH (source:FailureClass {id: row.source})
MATCH (target:Remedy {id: row.target})
MERGE (source)-[r:REPAIRED_BY {id: row.id}]->(target)
SET r += row.properties
