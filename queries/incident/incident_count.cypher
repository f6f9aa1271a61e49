// doc:    How many incidents are stored.
// access: read
// shape:  value
// param:  spaces     list[str]?  only these spaces
// column: incidents  int
CALL () { MATCH (i:Incident) RETURN count(i) AS everywhere }
CALL () {
  UNWIND coalesce($spaces, []) AS space
  WITH DISTINCT space
  MATCH (i:Incident {space: space})
  RETURN count(i) AS there
}
RETURN CASE WHEN $spaces IS NULL THEN everywhere ELSE there END AS incidents
