// doc:    Store observables that a person sees; a null removes the property, a property that a row does not name stays.
// access: write
// shape:  none
// param:  rows  list[json]  properties of the nodes, id included
UNWIND $rows AS row
MERGE (n:Observable:Symptom {id: row.id})
SET n += row
