// Loaded into the server that is measured. SIGUSR2 starts the recording; the next one ends it and writes it to a file.
import { writeFileSync } from 'node:fs'
import { type Profiler, Session } from 'node:inspector'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { isMainThread } from 'node:worker_threads'

/** What was recorded: the samples of V8, and the time in each SQL statement. */
export interface Recording {
  readonly profile: Profiler.Profile
  readonly statements: readonly { readonly sql: string; readonly calls: number; readonly ms: number }[]
}

const statements = new Map<string, { calls: number; ms: number }>()
const session = new Session()
let isRecording = false

if (isMainThread) {
  for (const name of ['run', 'get', 'all'] as const) {
    const original = StatementSync.prototype[name] as (...values: unknown[]) => unknown
    StatementSync.prototype[name] = function (this: StatementSync, ...values: unknown[]) {
      return timed(this.sourceSQL, () => original.apply(this, values))
    } as never
  }
  const { exec } = DatabaseSync.prototype
  DatabaseSync.prototype.exec = function (sql) {
    timed(sql, () => exec.call(this, sql))
  }
  session.connect()
  process.on('SIGUSR2', () => (isRecording ? finish() : begin()))
}

function timed<T>(sql: string, work: () => T): T {
  if (!isRecording) return work()
  const begun = performance.now()
  try {
    return work()
  } finally {
    const entry = statements.get(sql) ?? { calls: 0, ms: 0 }
    entry.calls++
    entry.ms += performance.now() - begun
    statements.set(sql, entry)
  }
}

function begin(): void {
  session.post('Profiler.enable')
  session.post('Profiler.setSamplingInterval', { interval: 200 })
  session.post('Profiler.start', () => {
    isRecording = true
  })
}

function finish(): void {
  isRecording = false
  session.post('Profiler.stop', (_, { profile }) => {
    const list = [...statements].map(([sql, entry]) => ({ sql, ...entry }))
    writeFileSync(process.env.BENCH_RECORDING!, JSON.stringify({ profile, statements: list } satisfies Recording))
  })
}
