// doc:    Store which observables checks settle; learnt counts stay, a null removes the property.
// access: write
// shape:  none
// param:  rows  list[json]  source, target, id and properties of the relationships
UNWIND $rows AS row
MATCH (source:Check {id: row.source})
MATCH (target:Observable {id: row.target})
MERGE (source)-[r:REVEALS {id: row.id}]->(target)
SET r += row.properties
