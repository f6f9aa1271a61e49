// doc:    Migrations that were applied to this database, in order.
// access: read
// shape:  rows
// column: id        str  V and four digits
// column: name      str
// column: checksum  str  sha256 of the file that was applied
// column: applied   str  when, ISO 8601 in UTC
MATCH (m:Migration)
RETURN m.id AS id, m.name AS name, m.checksum AS checksum, m.applied AS applied ORDER BY id
