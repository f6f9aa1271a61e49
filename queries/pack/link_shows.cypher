// doc:    Store the traces that mechanisms leave; learnt counts stay, a null removes the property.
// access: write
// shape:  none
// param:  rows  list[json]  source, target, id and properties of the relationships
UNWIND $rows AS row
MATCH (source:Mechanism {id: row.source})
MATCH (target:Observable {id: row.target})
MERGE (source)-[r:SHOWS {id: row.id}]->(target)
SET r += row.properties
