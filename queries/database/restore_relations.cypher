// doc:    Stores relationships of a backup, all of one pattern.
// access: write
// shape:  none
// param:  pattern  str         label of the start, type and label of the end, joined with blanks
// param:  rows     list[json]  source, target, id and properties of each

// Neither a label nor a type can be a parameter, so each pattern has its branch; only one of them gets the rows.
CALL () {
  UNWIND CASE WHEN $pattern = 'Mechanism AT Layer' THEN $rows ELSE [] END AS row
  MATCH (source:Mechanism {id: row.source})
  MATCH (target:Layer {id: row.target})
  MERGE (source)-[r:AT {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'Mechanism CAUSES Mechanism' THEN $rows ELSE [] END AS row
  MATCH (source:Mechanism {id: row.source})
  MATCH (target:Mechanism {id: row.target})
  MERGE (source)-[r:CAUSES {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'Mechanism SHOWS Observable' THEN $rows ELSE [] END AS row
  MATCH (source:Mechanism {id: row.source})
  MATCH (target:Observable {id: row.target})
  MERGE (source)-[r:SHOWS {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'FailureClass EXPECTS Observable' THEN $rows ELSE [] END AS row
  MATCH (source:FailureClass {id: row.source})
  MATCH (target:Observable {id: row.target})
  MERGE (source)-[r:EXPECTS {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'Observable REFUTES FailureClass' THEN $rows ELSE [] END AS row
  MATCH (source:Observable {id: row.source})
  MATCH (target:FailureClass {id: row.target})
  MERGE (source)-[r:REFUTES {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'Observable IMPLIES Observable' THEN $rows ELSE [] END AS row
  MATCH (source:Observable {id: row.source})
  MATCH (target:Observable {id: row.target})
  MERGE (source)-[r:IMPLIES {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'FailureClass ROOTED_IN Mechanism' THEN $rows ELSE [] END AS row
  MATCH (source:FailureClass {id: row.source})
  MATCH (target:Mechanism {id: row.target})
  MERGE (source)-[r:ROOTED_IN {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'FailureClass SPECIALISES FailureClass' THEN $rows ELSE [] END AS row
  MATCH (source:FailureClass {id: row.source})
  MATCH (target:FailureClass {id: row.target})
  MERGE (source)-[r:SPECIALISES {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'FailureClass COMES_WITH Circumstance' THEN $rows ELSE [] END AS row
  MATCH (source:FailureClass {id: row.source})
  MATCH (target:Circumstance {id: row.target})
  MERGE (source)-[r:COMES_WITH {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'Mechanism COMES_WITH Circumstance' THEN $rows ELSE [] END AS row
  MATCH (source:Mechanism {id: row.source})
  MATCH (target:Circumstance {id: row.target})
  MERGE (source)-[r:COMES_WITH {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'FailureClass PRESENTS_AS Presentation' THEN $rows ELSE [] END AS row
  MATCH (source:FailureClass {id: row.source})
  MATCH (target:Presentation {id: row.target})
  MERGE (source)-[r:PRESENTS_AS {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'Presentation INCLUDES Observable' THEN $rows ELSE [] END AS row
  MATCH (source:Presentation {id: row.source})
  MATCH (target:Observable {id: row.target})
  MERGE (source)-[r:INCLUDES {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'Presentation LACKS Observable' THEN $rows ELSE [] END AS row
  MATCH (source:Presentation {id: row.source})
  MATCH (target:Observable {id: row.target})
  MERGE (source)-[r:LACKS {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'Narrative DESCRIBES FailureClass' THEN $rows ELSE [] END AS row
  MATCH (source:Narrative {id: row.source})
  MATCH (target:FailureClass {id: row.target})
  MERGE (source)-[r:DESCRIBES {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'Check REVEALS Observable' THEN $rows ELSE [] END AS row
  MATCH (source:Check {id: row.source})
  MATCH (target:Observable {id: row.target})
  MERGE (source)-[r:REVEALS {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'Check REVEALS Circumstance' THEN $rows ELSE [] END AS row
  MATCH (source:Check {id: row.source})
  MATCH (target:Circumstance {id: row.target})
  MERGE (source)-[r:REVEALS {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'FailureClass CHECKED_BY Check' THEN $rows ELSE [] END AS row
  MATCH (source:FailureClass {id: row.source})
  MATCH (target:Check {id: row.target})
  MERGE (source)-[r:CHECKED_BY {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'FailureClass REPAIRED_BY Remedy' THEN $rows ELSE [] END AS row
  MATCH (source:FailureClass {id: row.source})
  MATCH (target:Remedy {id: row.target})
  MERGE (source)-[r:REPAIRED_BY {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'FailureClass PREVENTED_BY Prevention' THEN $rows ELSE [] END AS row
  MATCH (source:FailureClass {id: row.source})
  MATCH (target:Prevention {id: row.target})
  MERGE (source)-[r:PREVENTED_BY {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'FailureClass CITED_FROM Source' THEN $rows ELSE [] END AS row
  MATCH (source:FailureClass {id: row.source})
  MATCH (target:Source {id: row.target})
  MERGE (source)-[r:CITED_FROM {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'Pack ADJUSTS FailureClass' THEN $rows ELSE [] END AS row
  MATCH (source:Pack {id: row.source})
  MATCH (target:FailureClass {id: row.target})
  MERGE (source)-[r:ADJUSTS {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'Pack ADJUSTS Observable' THEN $rows ELSE [] END AS row
  MATCH (source:Pack {id: row.source})
  MATCH (target:Observable {id: row.target})
  MERGE (source)-[r:ADJUSTS {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'Incident FOUND Observable' THEN $rows ELSE [] END AS row
  MATCH (source:Incident {id: row.source})
  MATCH (target:Observable {id: row.target})
  MERGE (source)-[r:FOUND {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'Incident FOUND Circumstance' THEN $rows ELSE [] END AS row
  MATCH (source:Incident {id: row.source})
  MATCH (target:Circumstance {id: row.target})
  MERGE (source)-[r:FOUND {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'Incident INSTANCE_OF FailureClass' THEN $rows ELSE [] END AS row
  MATCH (source:Incident {id: row.source})
  MATCH (target:FailureClass {id: row.target})
  MERGE (source)-[r:INSTANCE_OF {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'Incident INVOLVES Entity' THEN $rows ELSE [] END AS row
  MATCH (source:Incident {id: row.source})
  MATCH (target:Entity {id: row.target})
  MERGE (source)-[r:INVOLVES {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'Incident HOLDS Artefact' THEN $rows ELSE [] END AS row
  MATCH (source:Incident {id: row.source})
  MATCH (target:Artefact {id: row.target})
  MERGE (source)-[r:HOLDS {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'Entity PART_OF Entity' THEN $rows ELSE [] END AS row
  MATCH (source:Entity {id: row.source})
  MATCH (target:Entity {id: row.target})
  MERGE (source)-[r:PART_OF {id: row.id}]->(target)
  SET r += row.properties
}
CALL () {
  UNWIND CASE WHEN $pattern = 'Entity CONNECTED_TO Entity' THEN $rows ELSE [] END AS row
  MATCH (source:Entity {id: row.source})
  MATCH (target:Entity {id: row.target})
  MERGE (source)-[r:CONNECTED_TO {id: row.id}]->(target)
  SET r += row.properties
}
