// doc:    Store which class a written report describes; learnt counts stay, a null removes the property.
// access: write
// shape:  none
// param:  rows  list[json]  source, target, id and properties of the relationships
UNWIND $rows AS row
MATCH (source:Narrative {id: row.source})
MATCH (target:FailureClass {id: row.target})
MERGE (source)-[r:DESCRIBES {id: row.id}]->(target)
SET r += row.properties
