// doc:    Count one more change of the loaded knowledge; fails when it changed since it was read.
// access: write
// shape:  row
// param:  expected    int  the generation that was read
// column: generation  int

// Writing the id takes the node's lock before its generation is read, so a second load waits here. Cypher has no
// statement that raises an error; a division by zero is one on both engines.
MERGE (c:Catalogue {id: 'catalogue'})
SET c.id = 'catalogue'
WITH c, CASE WHEN coalesce(c.generation, 0) = $expected THEN 1 ELSE 0 END AS same
SET c.generation = ($expected + 1) / same
RETURN c.generation AS generation
