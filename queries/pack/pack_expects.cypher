// doc:    What each class leads one to see, gathered by class: three lists that go together.
// access: read
// shape:  rows
// column: class_id       str
// column: pack           str
// column: observables    list[str]
// column: probabilities  list[float]
// column: words          list[str]    empty text where no expert said anything
MATCH (c:FailureClass)-[r:EXPECTS]->(o:Observable)
RETURN c.id AS class_id, c.pack AS pack, collect(o.id) AS observables, collect(r.probability) AS probabilities,
       collect(coalesce(r.word, '')) AS words
ORDER BY class_id
