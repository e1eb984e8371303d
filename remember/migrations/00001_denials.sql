-- +goose Up
CREATE TABLE denials (
  kind    TEXT   NOT NULL, -- principal, table, key
  subject TEXT   NOT NULL,
  since   BIGINT NOT NULL, -- microseconds since 1970, UTC
  "by"    TEXT   NOT NULL,
  reason  TEXT   NOT NULL,
  PRIMARY KEY (kind, subject)
);

-- +goose Down
DROP TABLE denials;
