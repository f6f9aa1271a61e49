// doc:    Store which observables always come with a broader one; learnt counts stay, a null removes the property.
// access: write
// shape:  none
// param:  rows  list[json]  source, target, id and properties of the relationships
UNWIND $rows AS row
MATCH (source:Observable {id: row.source})
MATCH (target:Observable {id: row.target})
MERGE (source)-[r:IMPLIES {id: row.id}]->(target)
SET r += row.properties
