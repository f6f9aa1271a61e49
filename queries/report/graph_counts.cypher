// doc:    How many nodes of each label and relationships of each type are stored.
// access: read
// shape:  rows
// column: kind   str  node or relationship
// column: name   str  label or type
// column: count  int

// Each count stands alone in its RETURN, and relationships are counted as degrees of their rarer end: so both engines
// answer from what they keep, without visiting every node.
CALL () { MATCH (n:Artefact) RETURN count(n) AS n_1 }
CALL () { MATCH (n:Catalogue) RETURN count(n) AS n_2 }
CALL () { MATCH (n:Check) RETURN count(n) AS n_3 }
CALL () { MATCH (n:Circumstance) RETURN count(n) AS n_4 }
CALL () { MATCH (n:Entity) RETURN count(n) AS n_5 }
CALL () { MATCH (n:Evidence) RETURN count(n) AS n_6 }
CALL () { MATCH (n:FailureClass) RETURN count(n) AS n_7 }
CALL () { MATCH (n:Incident) RETURN count(n) AS n_8 }
CALL () { MATCH (n:Layer) RETURN count(n) AS n_9 }
CALL () { MATCH (n:Mechanism) RETURN count(n) AS n_10 }
CALL () { MATCH (n:Migration) RETURN count(n) AS n_11 }
CALL () { MATCH (n:Narrative) RETURN count(n) AS n_12 }
CALL () { MATCH (n:Observable) RETURN count(n) AS n_13 }
CALL () { MATCH (n:Pack) RETURN count(n) AS n_14 }
CALL () { MATCH (n:Presentation) RETURN count(n) AS n_15 }
CALL () { MATCH (n:Prevention) RETURN count(n) AS n_16 }
CALL () { MATCH (n:Remedy) RETURN count(n) AS n_17 }
CALL () { MATCH (n:Source) RETURN count(n) AS n_18 }
CALL () { MATCH (n:Symptom) RETURN count(n) AS n_19 }
CALL () { MATCH (n:Pack) RETURN sum(COUNT { (n)-[:ADJUSTS]->() }) AS r_20 }
CALL () { MATCH (n:Mechanism) RETURN sum(COUNT { (n)-[:AT]->() }) AS r_21 }
CALL () { MATCH (n:Mechanism) RETURN sum(COUNT { (n)-[:CAUSES]->() }) AS r_22 }
CALL () { MATCH (n:FailureClass) RETURN sum(COUNT { (n)-[:CHECKED_BY]->() }) AS r_23 }
CALL () { MATCH (n:FailureClass) RETURN sum(COUNT { (n)-[:CITED_FROM]->() }) AS r_24 }
CALL () { MATCH (n:Circumstance) RETURN sum(COUNT { (n)<-[:COMES_WITH]-() }) AS r_25 }
CALL () { MATCH (n:Entity) RETURN sum(COUNT { (n)-[:CONNECTED_TO]->() }) AS r_26 }
CALL () { MATCH (n:FailureClass) RETURN sum(COUNT { (n)<-[:DESCRIBES]-() }) AS r_27 }
CALL () { MATCH (n:FailureClass) RETURN sum(COUNT { (n)-[:EXPECTS]->() }) AS r_28 }
CALL () { MATCH (n:Circumstance|Observable) RETURN sum(COUNT { (n)<-[:FOUND]-() }) AS r_29 }
CALL () { MATCH (n:Artefact) RETURN sum(COUNT { (n)<-[:HOLDS]-() }) AS r_30 }
CALL () { MATCH (n:Observable) RETURN sum(COUNT { (n)-[:IMPLIES]->() }) AS r_31 }
CALL () { MATCH (n:Presentation) RETURN sum(COUNT { (n)-[:INCLUDES]->() }) AS r_32 }
CALL () { MATCH (n:FailureClass) RETURN sum(COUNT { (n)<-[:INSTANCE_OF]-() }) AS r_33 }
CALL () { MATCH (n:Entity) RETURN sum(COUNT { (n)<-[:INVOLVES]-() }) AS r_34 }
CALL () { MATCH (n:Presentation) RETURN sum(COUNT { (n)-[:LACKS]->() }) AS r_35 }
CALL () { MATCH (n:Entity) RETURN sum(COUNT { (n)-[:PART_OF]->() }) AS r_36 }
CALL () { MATCH (n:FailureClass) RETURN sum(COUNT { (n)-[:PRESENTS_AS]->() }) AS r_37 }
CALL () { MATCH (n:FailureClass) RETURN sum(COUNT { (n)-[:PREVENTED_BY]->() }) AS r_38 }
CALL () { MATCH (n:Observable) RETURN sum(COUNT { (n)-[:REFUTES]->() }) AS r_39 }
CALL () { MATCH (n:FailureClass) RETURN sum(COUNT { (n)-[:REPAIRED_BY]->() }) AS r_40 }
CALL () { MATCH (n:Check) RETURN sum(COUNT { (n)-[:REVEALS]->() }) AS r_41 }
CALL () { MATCH (n:FailureClass) RETURN sum(COUNT { (n)-[:ROOTED_IN]->() }) AS r_42 }
CALL () { MATCH (n:Mechanism) RETURN sum(COUNT { (n)-[:SHOWS]->() }) AS r_43 }
CALL () { MATCH (n:FailureClass) RETURN sum(COUNT { (n)-[:SPECIALISES]->() }) AS r_44 }
UNWIND [
  {kind: 'node', name: 'Artefact', count: n_1},
  {kind: 'node', name: 'Catalogue', count: n_2},
  {kind: 'node', name: 'Check', count: n_3},
  {kind: 'node', name: 'Circumstance', count: n_4},
  {kind: 'node', name: 'Entity', count: n_5},
  {kind: 'node', name: 'Evidence', count: n_6},
  {kind: 'node', name: 'FailureClass', count: n_7},
  {kind: 'node', name: 'Incident', count: n_8},
  {kind: 'node', name: 'Layer', count: n_9},
  {kind: 'node', name: 'Mechanism', count: n_10},
  {kind: 'node', name: 'Migration', count: n_11},
  {kind: 'node', name: 'Narrative', count: n_12},
  {kind: 'node', name: 'Observable', count: n_13},
  {kind: 'node', name: 'Pack', count: n_14},
  {kind: 'node', name: 'Presentation', count: n_15},
  {kind: 'node', name: 'Prevention', count: n_16},
  {kind: 'node', name: 'Remedy', count: n_17},
  {kind: 'node', name: 'Source', count: n_18},
  {kind: 'node', name: 'Symptom', count: n_19},
  {kind: 'relationship', name: 'ADJUSTS', count: r_20},
  {kind: 'relationship', name: 'AT', count: r_21},
  {kind: 'relationship', name: 'CAUSES', count: r_22},
  {kind: 'relationship', name: 'CHECKED_BY', count: r_23},
  {kind: 'relationship', name: 'CITED_FROM', count: r_24},
  {kind: 'relationship', name: 'COMES_WITH', count: r_25},
  {kind: 'relationship', name: 'CONNECTED_TO', count: r_26},
  {kind: 'relationship', name: 'DESCRIBES', count: r_27},
  {kind: 'relationship', name: 'EXPECTS', count: r_28},
  {kind: 'relationship', name: 'FOUND', count: r_29},
  {kind: 'relationship', name: 'HOLDS', count: r_30},
  {kind: 'relationship', name: 'IMPLIES', count: r_31},
  {kind: 'relationship', name: 'INCLUDES', count: r_32},
  {kind: 'relationship', name: 'INSTANCE_OF', count: r_33},
  {kind: 'relationship', name: 'INVOLVES', count: r_34},
  {kind: 'relationship', name: 'LACKS', count: r_35},
  {kind: 'relationship', name: 'PART_OF', count: r_36},
  {kind: 'relationship', name: 'PRESENTS_AS', count: r_37},
  {kind: 'relationship', name: 'PREVENTED_BY', count: r_38},
  {kind: 'relationship', name: 'REFUTES', count: r_39},
  {kind: 'relationship', name: 'REPAIRED_BY', count: r_40},
  {kind: 'relationship', name: 'REVEALS', count: r_41},
  {kind: 'relationship', name: 'ROOTED_IN', count: r_42},
  {kind: 'relationship', name: 'SHOWS', count: r_43},
  {kind: 'relationship', name: 'SPECIALISES', count: r_44}
] AS counted
RETURN counted.kind AS kind, counted.name AS name, counted.count AS count
ORDER BY kind, name
