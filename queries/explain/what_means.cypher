// doc:    What a counter, a log word or an error number means: observables that hold the text, and classes behind them.
// access: read
// shape:  rows
// param:  name           str        text to look for, in upper or lower case
// param:  limit          int = 20   most rows to return
// column: observable_id  str
// column: kind           str
// column: says           str
// column: source         str
// column: signature      str
// column: found_in       str        id, metric, signature or says
// column: specificity    str
// column: classes        list[str]  the five classes that lead one to see it most, likeliest first
WITH toLower($name) AS name
MATCH (o:Observable)
WITH o, CASE
  WHEN toLower(o.id) CONTAINS name THEN 'id'
  WHEN toLower(coalesce(o.metric, '')) CONTAINS name THEN 'metric'
  WHEN toLower(o.signature) CONTAINS name THEN 'signature'
  WHEN toLower(o.says) CONTAINS name THEN 'says'
END AS found_in
WHERE found_in IS NOT NULL
WITH o, found_in, CASE found_in WHEN 'id' THEN 1 WHEN 'metric' THEN 2 WHEN 'signature' THEN 3 ELSE 4 END AS rank
ORDER BY rank, o.id
LIMIT $limit
WITH o, found_in, rank, COLLECT {
  MATCH (o)<-[e:EXPECTS]-(c:FailureClass)
  RETURN c.id ORDER BY e.probability DESC, c.id LIMIT 5
} AS classes
RETURN o.id AS observable_id, o.kind AS kind, o.says AS says, o.source AS source, o.signature AS signature,
       found_in, o.specificity AS specificity, classes
ORDER BY rank, observable_id
