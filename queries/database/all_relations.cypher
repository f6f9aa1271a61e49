// doc:    Every relationship of failgraph, for a backup.
// access: read
// shape:  stream
// column: type           str
// column: source         str?       id of the start
// column: source_labels  list[str]
// column: target         str?       id of the end
// column: target_labels  list[str]
// column: properties     json
MATCH (a)-[r:AT|CAUSES|SHOWS|EXPECTS|REFUTES|IMPLIES|ROOTED_IN|SPECIALISES|COMES_WITH|PRESENTS_AS|
             INCLUDES|LACKS|DESCRIBES|REVEALS|CHECKED_BY|REPAIRED_BY|PREVENTED_BY|CITED_FROM|ADJUSTS|
             FOUND|INSTANCE_OF|INVOLVES|HOLDS|PART_OF|CONNECTED_TO]->(b)
RETURN type(r) AS type, a.id AS source, labels(a) AS source_labels, b.id AS target, labels(b) AS target_labels,
       properties(r) AS properties
