// doc:    Incidents like this one: where the same things were seen, rare ones counting most; of equals the newest first.
// access: read
// shape:  rows
// param:  observables  list[str] = []           ids of what was seen
// param:  incident     str?                     or a stored incident: what was seen in it counts, and it is left out
// param:  spaces       list[str] = ["default"]  spaces to look into
// param:  limit        int = 5                  most rows to return
// param:  exclude      str?                     an incident to leave out
// column: incident_id  str
// column: title        str
// column: status       str
// column: opened       str?
// column: score        float                    sum of ln((incidents + 1) / (findings of it + 1)) over what is shared
// column: shared       list[str]                ids of what was seen in both, sorted
// column: causes       list[str]                confirmed classes, sorted

// Not every incident is compared. Candidates are those that share one of the rarest findings ("openers": the rarest
// one, and the next as long as they are 1,000 findings in all). They are ranked by what they share, whatever its state,
// which both engines tell without reading a finding; the best 100 are then compared exactly.
// So the rows are exact while no more than 1,000 stored findings are of the given observables and no more than 100
// incidents hold them. Beyond, an incident is missed that shares none of the openers, or that is below the best 100
// because others share more, though not as present.
// The work is bounded by 1,000 findings or by those of the rarest observable, whichever is more. To take only the newest
// of them would change the rows and save little: to tell which are the newest costs about as much as to compare them.
// The counts are degrees: findings in every state and space.
CALL () { MATCH (i:Incident) RETURN count(i) AS incidents }
WITH incidents, $observables + COLLECT {
  UNWIND [id IN [$incident] WHERE id IS NOT NULL] AS id
  MATCH (:Incident {id: id})-[f:FOUND]->(o:Observable)
  WHERE f.state = 'present'
  RETURN o.id
} AS ids
UNWIND ids AS id
WITH DISTINCT incidents, id
MATCH (o:Observable {id: id})
WITH incidents, o, COUNT { (o)<-[:FOUND]-() } AS findings
WHERE findings > 0
WITH o, findings, log((incidents + 1.0) / (findings + 1.0)) AS rarity
ORDER BY findings, o.id
WITH collect({o: o, findings: findings, rarity: rarity}) AS terms, collect(o) AS observables
WITH terms, observables,
     [k IN range(0, size(terms) - 1)
      WHERE k = 0 OR reduce(sum = 0, t IN terms[0..k + 1] | sum + t.findings) <= 1000 | terms[k].o] AS openers
UNWIND openers AS opener
MATCH (opener)<-[:FOUND]-(i:Incident)
WITH DISTINCT terms, observables, i
WHERE i.space IN $spaces AND ($exclude IS NULL OR i.id <> $exclude) AND ($incident IS NULL OR i.id <> $incident)
MATCH (i)-[:FOUND]->(o)
WHERE o IN observables
WITH terms, observables, i, round(sum(head([t IN terms WHERE t.o = o | t.rarity])), 9) AS score
ORDER BY score DESC, coalesce(i.opened, '') DESC, i.id
LIMIT 100
MATCH (i)-[f:FOUND]->(o:Observable)
WHERE f.state = 'present' AND o IN observables
WITH i, o.id AS id, head([t IN terms WHERE t.o = o | t.rarity]) AS rarity
ORDER BY id
WITH i, collect(id) AS shared, round(sum(rarity), 9) AS score
ORDER BY score DESC, coalesce(i.opened, '') DESC, i.id
LIMIT $limit
WITH i, score, shared, COLLECT { MATCH (i)-[:INSTANCE_OF]->(c:FailureClass) RETURN c.id ORDER BY c.id } AS causes
RETURN i.id AS incident_id, i.title AS title, i.status AS status, i.opened AS opened, score, shared, causes
ORDER BY score DESC, coalesce(opened, '') DESC, incident_id
