-- Every (channel, account) that something came in by: a message is found by the platform's id alone by asking the index
-- against redelivery once for each.
CREATE TABLE account (
  channel TEXT NOT NULL,
  account TEXT NOT NULL,
  PRIMARY KEY (channel, account)
) STRICT, WITHOUT ROWID;

INSERT OR IGNORE INTO account (channel, account)
SELECT DISTINCT body ->> 'channel', body ->> 'account' FROM entry WHERE kind = 'inbound';
