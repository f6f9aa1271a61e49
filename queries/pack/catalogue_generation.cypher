// doc:    How often the loaded knowledge has changed; no row before the first load.
// access: read
// shape:  row
// column: generation  int
MATCH (c:Catalogue {id: 'catalogue'})
RETURN c.generation AS generation
