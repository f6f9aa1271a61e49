// doc:    Every relationship that a pack owns, but EXPECTS, gathered by type and start.
// access: read
// shape:  rows
// column: type    str
// column: source  str
// column: ends    list[json]  labels and id of each end, with the properties of the relationship

// Whatever leaves one of these nodes belongs to a pack: incidents point at them, never the other way. Gathered,
// since the driver reads few long rows several times as fast as many short ones.
MATCH (source:Pack|Mechanism|Observable|FailureClass|Presentation|Narrative|Check)-[r]->(target)
WHERE type(r) <> 'EXPECTS'
RETURN type(r) AS type, source.id AS source,
       collect({labels: labels(target), id: target.id, properties: properties(r)}) AS ends
ORDER BY type, source
