// doc:    Remove relationships that a pack owned.
// access: write
// shape:  none
// param:  ids  json  each relationship id that goes, with the value true

// A map, not a list: looking one id up must not walk through thousands.
MATCH (source:Pack|Mechanism|Observable|FailureClass|Presentation|Narrative|Check)-[r]->()
WHERE $ids[r.id]
DELETE r
