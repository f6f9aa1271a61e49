// doc:    Store the checks that classes name; learnt counts stay, a null removes the property.
// access: write
// shape:  none
// param:  rows  list[json]  source, target, id and properties of the relationships
UNWIND $rows AS row
MATCH (source:FailureClass {id: row.source})
MATCH (target:Check {id: row.target})
MERGE (source)-[r:CHECKED_BY {id: row.id}]->(target)
SET r += row.properties
