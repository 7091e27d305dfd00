export const HAS_TABLES = `
  SELECT 1 AS found
  WHERE to_regclass('tilde_snapshots') IS NOT NULL`

/** Held by the node that changes tables, until it says so or its connection ends. */
export const LOCK = 'SELECT pg_advisory_lock(8402765113)'

export const UNLOCK = 'SELECT pg_advisory_unlock(8402765113)'

export const VERSION = `
  SELECT value
  FROM tilde_settings
  WHERE name = 'tables'`

export const SET_VERSION = `
  INSERT INTO tilde_settings (name, value)
  VALUES ('tables', $1)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`

/** Sessions that are dead and own nothing. */
export const FORGET_NODES = `
  DELETE FROM tilde_nodes
  WHERE NOT alive
    AND session NOT IN (SELECT owner FROM tilde_tenants WHERE owner IS NOT NULL)`

export const JOIN = `
  INSERT INTO tilde_nodes (session, name, url, clock, layout, version)
  VALUES ($1, $2, $3, $4, $5, $6)`

export const BEAT = `
  WITH renewed AS (
    UPDATE tilde_nodes
    SET beat = beat + 1, clock = greatest(clock, $2)
    WHERE session = $1 AND alive
    RETURNING 1)
  SELECT session, name, url, beat, draining, layout, version, (SELECT count(*) FROM renewed) AS renewed
  FROM tilde_nodes
  WHERE alive
  ORDER BY name, session`

export const EXPIRE = `
  UPDATE tilde_nodes
  SET alive = false
  WHERE session = $1 AND beat = $2 AND alive
  RETURNING 1 AS done`

export const LEAVE = `
  UPDATE tilde_nodes
  SET alive = false
  WHERE session = $1`

export const SET_DRAINING = `
  UPDATE tilde_nodes
  SET draining = $2
  WHERE name = $1 AND alive
  RETURNING 1 AS done`

const TENANT = 'slug, owner, epoch, head, pin, due, layout, snapshot, erased, clock'

export const FIND = `
  SELECT ${TENANT}
  FROM tilde_tenants
  WHERE slug = ANY ($1::text[])`

export const LIST = `
  SELECT ${TENANT}
  FROM tilde_tenants
  WHERE slug > $1
  ORDER BY slug
  LIMIT $2`

export const PAGE = `
  SELECT ${TENANT}
  FROM tilde_tenants
  WHERE slug > $1
  ORDER BY slug
  OFFSET $2
  LIMIT $3`

export const TOTAL = 'SELECT count(*) AS total FROM tilde_tenants'

export const COUNTS = `
  SELECT coalesce(owner, '') AS owner, count(*) AS count
  FROM tilde_tenants
  GROUP BY 1`

export const ORPHANS = `
  SELECT ${TENANT}
  FROM tilde_tenants t
  WHERE due IS NOT NULL
    AND ((owner = $1 AND released) OR NOT EXISTS (SELECT 1 FROM tilde_nodes o WHERE o.session = t.owner AND o.alive))
  LIMIT $2`

export const CREATE = `
  INSERT INTO tilde_tenants (slug, owner, epoch, layout, snapshot_epoch, snapshot_id, snapshot_parts)
  VALUES ($1, $2, nextval('tilde_epochs'), $3, 0, $4, $5)
  ON CONFLICT DO NOTHING
  RETURNING ${TENANT}`

export const REMOVE = `
  WITH removed AS (
    DELETE FROM tilde_tenants
    WHERE slug = $1 AND epoch = $2 AND (head = 0 OR NOT $3::boolean)
    RETURNING slug),
  changes AS (
    DELETE FROM tilde_log l USING removed r WHERE l.slug = r.slug),
  parts AS (
    DELETE FROM tilde_snapshots s USING removed r WHERE s.slug = r.slug)
  SELECT count(*) AS count FROM removed`

/**
 * A session that is dead stays dead, so what is not alive here will not be so later. The epoch binds the claim to the
 * row that was judged: PostgreSQL compares it again after it has waited for another claim of the same row.
 */
export const CLAIM = `
  WITH judged (name, at) AS (
    SELECT slug, epoch
    FROM tilde_tenants t
    WHERE slug = ANY ($1::text[])
      AND layout <= $3
      AND (owner IS NULL OR owner = $2
        OR NOT EXISTS (SELECT 1 FROM tilde_nodes o WHERE o.session = t.owner AND o.alive))
      AND EXISTS (SELECT 1 FROM tilde_nodes m WHERE m.session = $2 AND m.alive))
  UPDATE tilde_tenants t
  SET owner = $2,
    released = false,
    epoch = nextval('tilde_epochs'),
    due = 0,
    clock = greatest(t.clock, (SELECT o.clock FROM tilde_nodes o WHERE o.session = t.owner AND o.session <> $2))
  FROM judged
  WHERE slug = judged.name AND epoch = judged.at
  RETURNING ${TENANT}`

export const RELEASE = `
  UPDATE tilde_tenants t
  SET owner = $3,
    released = true,
    epoch = nextval('tilde_epochs'),
    clock = greatest(t.clock, (SELECT o.clock FROM tilde_nodes o WHERE o.session = t.owner))
  WHERE slug = $1 AND epoch = $2
  RETURNING 1 AS done`

export const SET_DUE = `
  UPDATE tilde_tenants
  SET due = $3
  WHERE slug = $1 AND epoch = $2`

export const SET_PIN = `
  UPDATE tilde_tenants
  SET pin = $2
  WHERE slug = $1
  RETURNING 1 AS done`

const POSITION = "(pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint"

/** The timeline is the first part of the name of a WAL file. */
export const MARK = `
  SELECT ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer AS timeline,
    ${POSITION} AS position`

/** The fence and the changes are one statement: an owner of an earlier epoch adds nothing. Its position is before its commit. */
export const APPEND = `
  WITH moved AS (
    UPDATE tilde_tenants t
    SET head = a.last, erased = greatest(t.erased, a.erased)
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
      AS a (slug, epoch, head, last, erased)
    WHERE t.slug = a.slug AND t.epoch = a.epoch AND t.head = a.head
    RETURNING t.slug),
  added AS (
    INSERT INTO tilde_log (slug, n, epoch, before, changes)
    SELECT c.slug, c.n, c.epoch, c.before, substring($12::bytea FROM c.start FOR c.length)
    FROM unnest($6::text[], $7::bigint[], $8::bigint[], $9::bigint[], $10::integer[], $11::integer[])
      AS c (slug, n, epoch, before, start, length)
    JOIN moved USING (slug))
  SELECT slug, ${POSITION} AS position
  FROM moved`

/** It writes: once this commit is on a standby, all before it is. */
export const SETTLE = `
  UPDATE tilde_tenants t
  SET head = t.head
  FROM unnest($1::text[], $2::bigint[]) AS a (slug, epoch)
  WHERE t.slug = a.slug AND t.epoch = a.epoch
  RETURNING t.slug, t.head`

/** Some 4 MiB at a time, by the sizes of the changes. */
export const READ = `
  SELECT n, epoch, before, changes
  FROM (
    SELECT n, epoch, before, changes, sum(length(changes)) OVER (ORDER BY n) - length(changes) AS read
    FROM (SELECT * FROM tilde_log WHERE slug = $1 AND n > $2 ORDER BY n LIMIT 1000) AS next) AS sized
  WHERE read < 4194304
  ORDER BY n`

export const EPOCH_AT = `
  SELECT epoch FROM tilde_log WHERE slug = $1 AND n = $2
  UNION ALL
  SELECT snapshot_epoch FROM tilde_tenants WHERE slug = $1 AND snapshot = $2
  LIMIT 1`

export const SNAPSHOT = `
  SELECT snapshot, snapshot_epoch, snapshot_id, snapshot_parts, layout
  FROM tilde_tenants
  WHERE slug = $1`

export const SNAPSHOT_PART = `
  SELECT bytes
  FROM tilde_snapshots
  WHERE slug = $1 AND id = $2 AND part = $3`

export const SAVE_PART = `
  INSERT INTO tilde_snapshots (slug, id, part, bytes)
  VALUES ($1, $2, $3, $4)
  ON CONFLICT DO NOTHING`

/** Parts of a snapshot that was never published are removed a day later. */
export const PUBLISH = `
  WITH before AS (
    SELECT slug, snapshot_id
    FROM tilde_tenants
    WHERE slug = $1),
  done AS (
    UPDATE tilde_tenants t
    SET snapshot = $3, snapshot_epoch = $4, snapshot_id = $2, snapshot_parts = $6, layout = $5
    FROM before
    WHERE t.slug = before.slug
      AND (t.snapshot < $3 OR (t.snapshot = $3 AND t.layout < $5))
      AND ((t.snapshot = $3 AND t.snapshot_epoch = $4)
        OR EXISTS (SELECT 1 FROM tilde_log l WHERE l.slug = $1 AND l.n = $3 AND l.epoch = $4))
    RETURNING t.slug),
  trimmed AS (
    DELETE FROM tilde_log l USING done d WHERE l.slug = d.slug AND l.n <= $3),
  replaced AS (
    DELETE FROM tilde_snapshots s USING done d
    WHERE s.slug = d.slug AND s.id <> $2
      AND (s.id = (SELECT snapshot_id FROM before) OR s.saved_at < now() - interval '1 day'))
  SELECT count(*) AS count FROM done`

export const AGREE = `
  INSERT INTO tilde_settings (name, value)
  VALUES ($1, $2)
  ON CONFLICT DO NOTHING`

export const AGREED = `
  SELECT value
  FROM tilde_settings
  WHERE name = $1`

export const TENANT_ADDRESSES = `
  SELECT address
  FROM tilde_mail_addresses
  WHERE slug = $1`

/** A tenant has these addresses and no others, except those of another tenant that is there. Two claims of one address wait for each other. */
export const CLAIM_ADDRESSES = `
  WITH given_up AS (
    DELETE FROM tilde_mail_addresses
    WHERE slug = $1
      AND address NOT IN (SELECT value FROM jsonb_array_elements_text($2::text::jsonb)))
  INSERT INTO tilde_mail_addresses AS a (address, slug)
  SELECT DISTINCT value, $1
  FROM jsonb_array_elements_text($2::text::jsonb)
  ORDER BY value
  ON CONFLICT (address) DO UPDATE SET slug = excluded.slug
  WHERE a.slug = excluded.slug
    OR NOT EXISTS (SELECT 1 FROM tilde_tenants AS t WHERE t.slug = a.slug)
  RETURNING address`

export const MAIL_TENANTS = `
  SELECT DISTINCT slug
  FROM tilde_mail_addresses
  WHERE address IN (SELECT value FROM jsonb_array_elements_text($1::text::jsonb))`

/** Lets a node read a mailbox that no other node reads which is alive. */
export const READ_MAILBOX = `
  INSERT INTO tilde_mailboxes AS m (name, reader)
  VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET reader = excluded.reader
  WHERE m.reader = excluded.reader
    OR NOT EXISTS (SELECT 1 FROM tilde_nodes AS n WHERE n.session = m.reader AND n.alive)
  RETURNING place`

export const SET_MAIL_PLACE = `
  UPDATE tilde_mailboxes
  SET place = $3
  WHERE name = $1 AND reader = $2
  RETURNING 1 AS done`
