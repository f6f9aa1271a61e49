// doc:    Remove nodes that a pack owned, with their relationships.
// access: write
// shape:  none
// param:  label  str
// param:  ids    json  each node id that goes, with the value true
MATCH (n:Pack|Layer|Mechanism|Observable|FailureClass|Presentation|Circumstance|Narrative|Check|Remedy|Prevention|Source)
WHERE $label IN labels(n) AND $ids[n.id]
DETACH DELETE n
