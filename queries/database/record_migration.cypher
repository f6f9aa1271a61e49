// doc:    Records that a migration was applied.
// access: write
// shape:  none
// param:  id        str  V and four digits
// param:  name      str
// param:  checksum  str  sha256 of the file
// param:  applied   str  when, ISO 8601 in UTC
MERGE (m:Migration {id: $id})
ON CREATE SET m.name = $name, m.checksum = $checksum, m.applied = $applied
