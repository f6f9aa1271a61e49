// doc:    Stores nodes of a backup, all of one kind.
// access: write
// shape:  none
// param:  labels  str         the labels in the order of the model, joined with a colon
// param:  rows    list[json]  the nodes' properties, id included

// A label cannot be a parameter, so each kind has its branch; only one of them gets the rows.
FOREACH (row IN CASE WHEN $labels = 'Layer' THEN $rows ELSE [] END | MERGE (n:Layer {id: row.id}) SET n += row)
FOREACH (row IN CASE WHEN $labels = 'Mechanism' THEN $rows ELSE [] END | MERGE (n:Mechanism {id: row.id}) SET n += row)
FOREACH (row IN CASE WHEN $labels = 'Observable:Symptom' THEN $rows ELSE [] END | MERGE (n:Observable:Symptom {id: row.id}) SET n += row)
FOREACH (row IN CASE WHEN $labels = 'Observable:Evidence' THEN $rows ELSE [] END | MERGE (n:Observable:Evidence {id: row.id}) SET n += row)
FOREACH (row IN CASE WHEN $labels = 'FailureClass' THEN $rows ELSE [] END | MERGE (n:FailureClass {id: row.id}) SET n += row)
FOREACH (row IN CASE WHEN $labels = 'Presentation' THEN $rows ELSE [] END | MERGE (n:Presentation {id: row.id}) SET n += row)
FOREACH (row IN CASE WHEN $labels = 'Circumstance' THEN $rows ELSE [] END | MERGE (n:Circumstance {id: row.id}) SET n += row)
FOREACH (row IN CASE WHEN $labels = 'Narrative' THEN $rows ELSE [] END | MERGE (n:Narrative {id: row.id}) SET n += row)
FOREACH (row IN CASE WHEN $labels = 'Check' THEN $rows ELSE [] END | MERGE (n:Check {id: row.id}) SET n += row)
FOREACH (row IN CASE WHEN $labels = 'Remedy' THEN $rows ELSE [] END | MERGE (n:Remedy {id: row.id}) SET n += row)
FOREACH (row IN CASE WHEN $labels = 'Prevention' THEN $rows ELSE [] END | MERGE (n:Prevention {id: row.id}) SET n += row)
FOREACH (row IN CASE WHEN $labels = 'Source' THEN $rows ELSE [] END | MERGE (n:Source {id: row.id}) SET n += row)
FOREACH (row IN CASE WHEN $labels = 'Pack' THEN $rows ELSE [] END | MERGE (n:Pack {id: row.id}) SET n += row)
FOREACH (row IN CASE WHEN $labels = 'Catalogue' THEN $rows ELSE [] END | MERGE (n:Catalogue {id: row.id}) SET n += row)
FOREACH (row IN CASE WHEN $labels = 'Incident' THEN $rows ELSE [] END | MERGE (n:Incident {id: row.id}) SET n += row)
FOREACH (row IN CASE WHEN $labels = 'Artefact' THEN $rows ELSE [] END | MERGE (n:Artefact {id: row.id}) SET n += row)
FOREACH (row IN CASE WHEN $labels = 'Entity' THEN $rows ELSE [] END | MERGE (n:Entity {id: row.id}) SET n += row)
