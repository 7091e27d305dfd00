/**
 * From layout 5 to 6: timers and workflows. Entities from before have no timers yet: they are made when the tenant is
 * opened, for the times to come.
 */
export const FROM_5: readonly string[] = [
  `CREATE TABLE timers (
    n INTEGER NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    at INTEGER NOT NULL,
    due INTEGER,
    hops INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    error TEXT,
    PRIMARY KEY (n, name)) WITHOUT ROWID`,
  `CREATE INDEX timers_due ON timers (due, n, name) WHERE due IS NOT NULL`,
  `CREATE TABLE timer_scans (
    type TEXT NOT NULL,
    name TEXT NOT NULL,
    after INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    later INTEGER NOT NULL,
    PRIMARY KEY (type, name)) WITHOUT ROWID`,

  `CREATE TABLE workflows (
    id TEXT PRIMARY KEY,
    rights TEXT NOT NULL,
    seq INTEGER NOT NULL,
    next_at INTEGER,
    failures INTEGER NOT NULL) WITHOUT ROWID`,
  `CREATE TABLE workflow_runs (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    workflow TEXT NOT NULL,
    trigger TEXT NOT NULL,
    seq INTEGER,
    at INTEGER NOT NULL,
    state TEXT NOT NULL,
    due INTEGER,
    hops INTEGER NOT NULL,
    retry_of TEXT,
    retried_by TEXT,
    definition TEXT,
    started_at INTEGER,
    ended_at INTEGER,
    error TEXT)`,
  `CREATE INDEX workflow_runs_due ON workflow_runs (due) WHERE due IS NOT NULL`,
  `CREATE INDEX workflow_runs_workflow ON workflow_runs (workflow, state)`,
  `CREATE INDEX workflow_runs_ended ON workflow_runs (ended_at) WHERE ended_at IS NOT NULL`,
  `CREATE TABLE workflow_steps (
    run INTEGER NOT NULL,
    step INTEGER NOT NULL,
    state TEXT NOT NULL,
    tries INTEGER NOT NULL,
    input TEXT,
    output TEXT,
    error TEXT,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    PRIMARY KEY (run, step)) WITHOUT ROWID`,
  `CREATE TABLE workflow_calls (
    run INTEGER NOT NULL,
    step INTEGER NOT NULL,
    call INTEGER NOT NULL,
    request TEXT NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (run, step, call)) WITHOUT ROWID`,
  `INSERT INTO meta (key, value) VALUES ('timers.declared', 'forgotten')`,
]
