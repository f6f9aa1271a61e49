// doc:    Store written first reports; a null removes the property, a property that a row does not name stays.
// access: write
// shape:  none
// param:  rows  list[json]  properties of the nodes, id included
UNWIND $rows AS row
MERGE (n:Narrative {id: row.id})
SET n += row
