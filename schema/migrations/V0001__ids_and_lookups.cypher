// Ids are unique within a node's first label and within a relationship's type. Symptoms and evidence carry
// the label Observable too, and it is Observable that holds their constraint: look them up by it.

CREATE CONSTRAINT layer_id IF NOT EXISTS FOR (n:Layer) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT mechanism_id IF NOT EXISTS FOR (n:Mechanism) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT observable_id IF NOT EXISTS FOR (n:Observable) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT failure_class_id IF NOT EXISTS FOR (n:FailureClass) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT presentation_id IF NOT EXISTS FOR (n:Presentation) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT circumstance_id IF NOT EXISTS FOR (n:Circumstance) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT narrative_id IF NOT EXISTS FOR (n:Narrative) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT check_id IF NOT EXISTS FOR (n:Check) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT remedy_id IF NOT EXISTS FOR (n:Remedy) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT prevention_id IF NOT EXISTS FOR (n:Prevention) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT source_id IF NOT EXISTS FOR (n:Source) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT pack_id IF NOT EXISTS FOR (n:Pack) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT catalogue_id IF NOT EXISTS FOR (n:Catalogue) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT incident_id IF NOT EXISTS FOR (n:Incident) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT artefact_id IF NOT EXISTS FOR (n:Artefact) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT migration_id IF NOT EXISTS FOR (n:Migration) REQUIRE n.id IS UNIQUE;

CREATE CONSTRAINT at_id IF NOT EXISTS FOR ()-[r:AT]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT causes_id IF NOT EXISTS FOR ()-[r:CAUSES]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT shows_id IF NOT EXISTS FOR ()-[r:SHOWS]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT expects_id IF NOT EXISTS FOR ()-[r:EXPECTS]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT refutes_id IF NOT EXISTS FOR ()-[r:REFUTES]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT implies_id IF NOT EXISTS FOR ()-[r:IMPLIES]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT rooted_in_id IF NOT EXISTS FOR ()-[r:ROOTED_IN]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT specialises_id IF NOT EXISTS FOR ()-[r:SPECIALISES]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT comes_with_id IF NOT EXISTS FOR ()-[r:COMES_WITH]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT presents_as_id IF NOT EXISTS FOR ()-[r:PRESENTS_AS]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT includes_id IF NOT EXISTS FOR ()-[r:INCLUDES]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT lacks_id IF NOT EXISTS FOR ()-[r:LACKS]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT describes_id IF NOT EXISTS FOR ()-[r:DESCRIBES]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT reveals_id IF NOT EXISTS FOR ()-[r:REVEALS]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT checked_by_id IF NOT EXISTS FOR ()-[r:CHECKED_BY]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT repaired_by_id IF NOT EXISTS FOR ()-[r:REPAIRED_BY]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT prevented_by_id IF NOT EXISTS FOR ()-[r:PREVENTED_BY]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT cited_from_id IF NOT EXISTS FOR ()-[r:CITED_FROM]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT adjusts_id IF NOT EXISTS FOR ()-[r:ADJUSTS]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT found_id IF NOT EXISTS FOR ()-[r:FOUND]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT instance_of_id IF NOT EXISTS FOR ()-[r:INSTANCE_OF]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT involves_id IF NOT EXISTS FOR ()-[r:INVOLVES]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT holds_id IF NOT EXISTS FOR ()-[r:HOLDS]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT part_of_id IF NOT EXISTS FOR ()-[r:PART_OF]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT connected_to_id IF NOT EXISTS FOR ()-[r:CONNECTED_TO]-() REQUIRE r.id IS UNIQUE;

// What a pack owns, for pruning when it is loaded again.
CREATE INDEX layer_pack IF NOT EXISTS FOR (n:Layer) ON (n.pack);
CREATE INDEX mechanism_pack IF NOT EXISTS FOR (n:Mechanism) ON (n.pack);
CREATE INDEX observable_pack IF NOT EXISTS FOR (n:Observable) ON (n.pack);
CREATE INDEX failure_class_pack IF NOT EXISTS FOR (n:FailureClass) ON (n.pack);
CREATE INDEX presentation_pack IF NOT EXISTS FOR (n:Presentation) ON (n.pack);
CREATE INDEX circumstance_pack IF NOT EXISTS FOR (n:Circumstance) ON (n.pack);
CREATE INDEX narrative_pack IF NOT EXISTS FOR (n:Narrative) ON (n.pack);
CREATE INDEX check_pack IF NOT EXISTS FOR (n:Check) ON (n.pack);
CREATE INDEX remedy_pack IF NOT EXISTS FOR (n:Remedy) ON (n.pack);
CREATE INDEX prevention_pack IF NOT EXISTS FOR (n:Prevention) ON (n.pack);
CREATE INDEX source_pack IF NOT EXISTS FOR (n:Source) ON (n.pack);

// Only accepted classes compete; incidents are asked for by space and status.
CREATE INDEX failure_class_status IF NOT EXISTS FOR (n:FailureClass) ON (n.status);
CREATE INDEX incident_space IF NOT EXISTS FOR (n:Incident) ON (n.space);
CREATE INDEX incident_status IF NOT EXISTS FOR (n:Incident) ON (n.status);
CREATE INDEX artefact_space IF NOT EXISTS FOR (n:Artefact) ON (n.space);
CREATE INDEX entity_space IF NOT EXISTS FOR (n:Entity) ON (n.space);
