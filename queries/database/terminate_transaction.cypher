// doc:    Ends a running transaction.
// access: read
// shape:  none
// param:  transaction_id  str  as running_transactions gives it
TERMINATE TRANSACTIONS $transaction_id
