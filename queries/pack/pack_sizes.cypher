// doc:    How many classes, mechanisms, observables and checks each loaded pack owns.
// access: read
// shape:  rows
// column: id           str
// column: classes      int
// column: mechanisms   int
// column: observables  int
// column: checks       int
MATCH (p:Pack)
RETURN p.id AS id,
       COUNT { MATCH (c:FailureClass) WHERE c.pack = p.id } AS classes,
       COUNT { MATCH (m:Mechanism) WHERE m.pack = p.id } AS mechanisms,
       COUNT { MATCH (o:Observable) WHERE o.pack = p.id } AS observables,
       COUNT { MATCH (k:Check) WHERE k.pack = p.id } AS checks
ORDER BY id
