// doc:    Store what speaks against classes; learnt counts stay, a null removes the property.
// access: write
// shape:  none
// param:  rows  list[json]  source, target, id and properties of the relationships
UNWIND $rows AS row
MATCH (source:Observable {id: row.source})
MATCH (target:FailureClass {id: row.target})
MERGE (source)-[r:REFUTES {id: row.id}]->(target)
SET r += row.properties
