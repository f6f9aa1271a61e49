// doc:    Store where mechanisms happen; learnt counts stay, a null removes the property.
// access: write
// shape:  none
// param:  rows  list[json]  source, target, id and properties of the relationships
UNWIND $rows AS row
MATCH (source:Mechanism {id: row.source})
MATCH (target:Layer {id: row.target})
MERGE (source)-[r:AT {id: row.id}]->(target)
SET r += row.properties
