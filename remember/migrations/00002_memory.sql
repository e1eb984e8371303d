-- +goose Up
-- Times are microseconds since 1970, UTC. What heat is, docs/memory.md says.

-- One row: who changes it has the turn to write, over all nodes.
CREATE TABLE turn (
  id    BIGINT PRIMARY KEY,
  taken BIGINT NOT NULL
);
INSERT INTO turn (id, taken) VALUES (1, 0);

CREATE TABLE tables (
  id        BIGINT PRIMARY KEY,
  catalog   TEXT   NOT NULL,
  prefix    TEXT   NOT NULL,
  ref       TEXT   NOT NULL,
  uuid      TEXT   NOT NULL,
  told      BIGINT NOT NULL, -- when the catalog answered the rest; 0: never
  name      TEXT   NOT NULL,
  location  TEXT   NOT NULL,
  snapshot  BIGINT NOT NULL, -- -1: none or not known
  columns   TEXT   NOT NULL, -- JSON
  snapshots TEXT   NOT NULL, -- JSON
  since     BIGINT NOT NULL, -- watched since
  UNIQUE (catalog, prefix, ref, uuid)
);

-- Names that tables and, with a field, columns have or had.
CREATE TABLE names (
  table_id BIGINT NOT NULL,
  field    BIGINT NOT NULL, -- 0: of the table
  name     TEXT   NOT NULL,
  since    BIGINT NOT NULL,
  PRIMARY KEY (table_id, field, name)
);

CREATE TABLE actors (
  id        BIGINT PRIMARY KEY,
  engine    TEXT NOT NULL,
  version   TEXT NOT NULL,
  principal TEXT NOT NULL,
  UNIQUE (engine, version, principal)
);

-- What outlives files, by who used it.
CREATE TABLE uses (
  table_id BIGINT NOT NULL,
  kind     TEXT   NOT NULL, -- a kind of habit, or query, used, part
  field    BIGINT NOT NULL,
  value    TEXT   NOT NULL,
  actor    BIGINT NOT NULL,
  heat     DOUBLE PRECISION NOT NULL,
  bytes    BIGINT NOT NULL,
  since    BIGINT NOT NULL,
  last     BIGINT NOT NULL,
  PRIMARY KEY (table_id, kind, field, value, actor)
);
CREATE INDEX uses_heat ON uses (heat);

CREATE TABLE files (
  id        BIGINT PRIMARY KEY,
  table_id  BIGINT NOT NULL,
  origin    TEXT   NOT NULL,
  bucket    TEXT   NOT NULL,
  name      TEXT   NOT NULL, -- the object's key
  content   BIGINT NOT NULL,
  format    TEXT   NOT NULL,
  size      BIGINT NOT NULL, -- -1: not stated
  row_count BIGINT NOT NULL, -- -1: not stated
  part      TEXT   NOT NULL, -- partition
  last      BIGINT NOT NULL, -- named or read
  gone      BIGINT NOT NULL, -- when a commit removed it; 0: it has not
  UNIQUE (table_id, origin, bucket, name)
);

-- Uses of files by part: -1 is the file itself, opened.
CREATE TABLE file_uses (
  file_id BIGINT NOT NULL,
  part    BIGINT NOT NULL, -- kind of part; all that belongs to a column is of its chunk
  field   BIGINT NOT NULL,
  actor   BIGINT NOT NULL,
  heat    DOUBLE PRECISION NOT NULL,
  bytes   BIGINT NOT NULL,
  since   BIGINT NOT NULL,
  last    BIGINT NOT NULL,
  PRIMARY KEY (file_id, part, field, actor)
);

CREATE TABLE changes (
  table_id BIGINT NOT NULL,
  snapshot BIGINT NOT NULL, -- the newer one
  at       BIGINT NOT NULL,
  body     TEXT   NOT NULL, -- JSON
  PRIMARY KEY (table_id, snapshot)
);
CREATE INDEX changes_at ON changes (at);

CREATE TABLE hours (
  table_id BIGINT NOT NULL,
  hour     BIGINT NOT NULL, -- hours since 1970
  actor    BIGINT NOT NULL, -- without principal
  accesses DOUBLE PRECISION NOT NULL,
  asked    BIGINT NOT NULL, -- bytes
  origin   BIGINT NOT NULL,
  memory   BIGINT NOT NULL,
  disk     BIGINT NOT NULL,
  PRIMARY KEY (table_id, hour, actor)
);
CREATE INDEX hours_hour ON hours (hour);

-- +goose Down
DROP TABLE hours;
DROP TABLE changes;
DROP TABLE file_uses;
DROP TABLE files;
DROP TABLE uses;
DROP TABLE actors;
DROP TABLE names;
DROP TABLE tables;
DROP TABLE turn;
