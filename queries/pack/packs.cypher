// doc:    The loaded packs, by id.
// access: read
// shape:  rows
// column: id        str
// column: name      str
// column: revision  int
// column: summary   str
// column: requires  list[str]  ids of the packs it builds on
// column: checksum  str        of its canonical files
MATCH (p:Pack)
RETURN p.id AS id, p.name AS name, p.revision AS revision, p.summary AS summary,
       coalesce(p.requires, []) AS requires, p.checksum AS checksum
ORDER BY id
