// doc:    Store the faces of classes; learnt counts stay, a null removes the property.
// access: write
// shape:  none
// param:  rows  list[json]  source, target, id and properties of the relationships
UNWIND $rows AS row
MATCH (source:FailureClass {id: row.source})
MATCH (target:Presentation {id: row.target})
MERGE (source)-[r:PRESENTS_AS {id: row.id}]->(target)
SET r += row.properties
