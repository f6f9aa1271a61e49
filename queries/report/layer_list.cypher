// doc:    The layers, lowest first, with what is known at each.
// access: read
// shape:  rows
// column: id          str
// column: name        str
// column: rank        int
// column: mechanisms  int  mechanisms at this layer
// column: classes     int  classes whose root mechanism is at this layer
MATCH (l:Layer)
RETURN l.id AS id, l.name AS name, l.rank AS rank,
       COUNT { (l)<-[:AT]-(:Mechanism) } AS mechanisms,
       COUNT { (l)<-[:AT]-(:Mechanism)<-[:ROOTED_IN]-(:FailureClass) } AS classes
ORDER BY rank, id
