// doc:    Store what packs change on observables of other packs; learnt counts stay, a null removes the property.
// access: write
// shape:  none
// param:  rows  list[json]  source, target, id and properties of the relationships
UNWIND $rows AS row
MATCH (source:Pack {id: row.source})
MATCH (target:Observable {id: row.target})
MERGE (source)-[r:ADJUSTS {id: row.id}]->(target)
SET r += row.properties
