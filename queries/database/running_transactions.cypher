// doc:    Running transactions whose query text holds a token.
// access: read
// shape:  rows
// param:  token           str   text to look for in the running queries
// column: transaction_id  str   what terminate_transactions takes
SHOW TRANSACTIONS YIELD transactionId, currentQuery
WHERE currentQuery CONTAINS $token
RETURN transactionId AS transaction_id ORDER BY transaction_id
