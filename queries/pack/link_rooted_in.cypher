// doc:    Store where classes start; learnt counts stay, a null removes the property.
// access: write
// shape:  none
// param:  rows  list[json]  source, target, id and properties of the relationships
UNWIND $rows AS row
MATCH (source:FailureClass {id: row.source})
MATCH (target:Mechanism {id: row.target})
MERGE (source)-[r:ROOTED_IN {id: row.id}]->(target)
SET r += row.properties
