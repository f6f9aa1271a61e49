// doc:    All observables, of one kind or source if asked for.
// access: read
// shape:  rows
// param:  kind         str?   behaviour, log, event or metric
// param:  source       str?   where it is seen, exactly as the observable says
// column: id           str
// column: kind         str
// column: says         str
// column: source       str
// column: specificity  str
// column: leak         float  probability that it is seen although nothing that shows it is active
// column: verified     bool
// column: pack         str
MATCH (o:Observable)
WHERE ($kind IS NULL OR o.kind = $kind) AND ($source IS NULL OR o.source = $source)
RETURN o.id AS id, o.kind AS kind, o.says AS says, o.source AS source, o.specificity AS specificity,
       o.leak AS leak, o.verified AS verified, o.pack AS pack
ORDER BY id
