// doc:    The causal path from a class's root to an observable, hop by hop: through its own chain if there is one.
// access: read
// shape:  rows
// param:  class_id    str
// param:  observable  str
// column: position    int    from 1
// column: from_id     str
// column: from_name   str
// column: relation    str    CAUSES, and SHOWS for the last hop
// column: to_id       str
// column: to_name     str
// column: strength    float
// column: in_chain    bool   the step is one of the class's own

// Of all paths of at most 16 steps: those inside the class's chain first, then the likeliest by the product of their
// strengths, then the shortest, then by the ids on the way.
MATCH (:FailureClass {id: $class_id})-[:ROOTED_IN]->(root:Mechanism)
MATCH (last:Mechanism)-[s:SHOWS]->(o:Observable {id: $observable})
MATCH path = (root)-[:CAUSES*0..16]->(last)
WITH nodes(path) AS mechanisms, relationships(path) AS steps, o, s
WITH mechanisms, steps, o, s,
     reduce(outside = 0, r IN steps | CASE WHEN $class_id IN r.classes THEN outside ELSE outside + 1 END) AS outside,
     reduce(product = s.strength, r IN steps | product * r.strength) AS product,
     reduce(ids = '', m IN mechanisms | ids + ' ' + m.id) AS ids
ORDER BY CASE WHEN outside = 0 THEN 0 ELSE 1 END, product DESC, size(steps), ids
LIMIT 1
WITH mechanisms, o, s, [r IN steps | {strength: r.strength, in_chain: $class_id IN r.classes}] AS steps
UNWIND range(1, size(mechanisms)) AS position
WITH position, mechanisms[position - 1] AS start, mechanisms[position] AS next, o, s, steps[position - 1] AS step
RETURN position, start.id AS from_id, start.name AS from_name,
       CASE WHEN next IS NULL THEN 'SHOWS' ELSE 'CAUSES' END AS relation,
       CASE WHEN next IS NULL THEN o.id ELSE next.id END AS to_id,
       CASE WHEN next IS NULL THEN o.says ELSE next.name END AS to_name,
       CASE WHEN next IS NULL THEN s.strength ELSE step.strength END AS strength,
       CASE WHEN next IS NULL THEN true ELSE step.in_chain END AS in_chain
ORDER BY position
