// doc:    Which classes have this mechanism in their chain.
// access: read
// shape:  rows
// param:  mechanism  str        id of the mechanism
// column: class_id   str
// column: name       str
// column: role       str        root, where the class starts, or step
// column: causes     list[str]  mechanisms it brings about in this class's chain, sorted
// column: caused_by  list[str]  mechanisms that bring it about there, sorted
CALL () {
  MATCH (:Mechanism {id: $mechanism})<-[:ROOTED_IN]-(c:FailureClass)
  RETURN c.id AS class_id
  UNION
  MATCH (:Mechanism {id: $mechanism})-[r:CAUSES]-(:Mechanism)
  UNWIND r.classes AS class_id
  RETURN class_id
}
MATCH (c:FailureClass {id: class_id})-[:ROOTED_IN]->(root:Mechanism)
WITH c, CASE WHEN root.id = $mechanism THEN 'root' ELSE 'step' END AS role,
     COLLECT {
       MATCH (:Mechanism {id: $mechanism})-[r:CAUSES]->(next:Mechanism)
       WHERE c.id IN r.classes
       RETURN next.id ORDER BY next.id
     } AS causes,
     COLLECT {
       MATCH (:Mechanism {id: $mechanism})<-[r:CAUSES]-(previous:Mechanism)
       WHERE c.id IN r.classes
       RETURN previous.id ORDER BY previous.id
     } AS caused_by
RETURN c.id AS class_id, c.name AS name, role, causes, caused_by
ORDER BY role, class_id
