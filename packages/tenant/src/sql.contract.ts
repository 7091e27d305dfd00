import type { Sql, SqlValue } from './ports.ts'
import { diceOf, kept, nest, nestOf, thrown } from './sql.nests.ts'

/** One promise of the Sql port, as a function that throws when it is broken. */
export interface SqlPromise {
  readonly says: string
  readonly holds: (sql: Sql) => void
}

/** What every Sql port must do, whatever it runs on. Each promise gets its own database. */
export const SQL_CONTRACT: readonly SqlPromise[] = [
  {
    says: 'rows are arrays in the order of the columns',
    holds: (sql) => same(sql.rows(`SELECT 2 AS b, 'x' AS a, NULL AS c, 1.5 AS d`), [[2, 'x', null, 1.5]]),
  },
  {
    says: 'strings and numbers are returned unchanged',
    holds: (sql) => {
      const values: SqlValue[] = ['', "o'x", '😀\uffff', 'a\u0000b', 0, -1, 1.5, 2 ** 53 - 1, 1e300, null]
      for (const value of values) same(sql.rows('SELECT ?', value), [[value]])
    },
  },
  {
    says: 'a whole number compares with columns as the whole number it is',
    holds: (sql) => {
      sql.run('CREATE TABLE t (n INTEGER PRIMARY KEY, v)')
      sql.run('INSERT INTO t (n, v) VALUES (?, ?)', 7, '7')
      same(sql.rows('SELECT n FROM t WHERE n = ? LIMIT ?', 7, 1), [[7]])
      same(sql.rows('SELECT n FROM t WHERE v = ?', 7), [])
    },
  },
  {
    says: 'minus infinity is a value that sorts before every number',
    holds: (sql) => same(sql.rows('SELECT ? < ?', Number.NEGATIVE_INFINITY, -1e308), [[1]]),
  },
  {
    says: 'bytes come back as bytes',
    holds: (sql) => {
      const [row] = sql.rows('SELECT ?', Uint8Array.of(0, 1, 255))
      same([...(row![0] as Uint8Array)], [0, 1, 255])
    },
  },
  {
    says: 'statements that write may give rows, and need not',
    holds: (sql) => {
      sql.run('CREATE TABLE t (n INTEGER PRIMARY KEY, v TEXT)')
      same(sql.rows('INSERT INTO t (v) VALUES (?) RETURNING n', 'a'), [[1]])
      sql.run('UPDATE t SET v = ? WHERE n = ?', 'b', 1)
      same(sql.rows('SELECT v FROM t'), [['b']])
    },
  },
  {
    says: 'the text index takes rows at places below zero, however large its own numbers grow',
    holds: (sql) => {
      sql.run(`CREATE VIRTUAL TABLE text USING fts5(words, content='', contentless_delete=1)`)
      for (let n = 1; n <= 2_000; n++)
        sql.run('INSERT INTO text (rowid, words) VALUES (?, ?)', n % 2 ? n : -n, `word${n}`)
      same(sql.rows('SELECT rowid FROM text WHERE text MATCH ?', '"word1998"*'), [[-1998]])
    },
  },
  {
    says: 'JSON is understood, and a list passes as one value',
    holds: (sql) => same(sql.rows(`SELECT value FROM json_each(?) ORDER BY value`, '["b","a"]'), [['a'], ['b']]),
  },
  {
    says: 'a transaction is kept whole, and gives what its work gives',
    holds: (sql) => {
      sql.run('CREATE TABLE t (v)')
      same(
        sql.transaction(() => sql.rows('INSERT INTO t VALUES (?) RETURNING v', 1)),
        [[1]],
      )
      same(sql.rows('SELECT v FROM t'), [[1]])
    },
  },
  {
    says: 'a transaction that throws leaves no trace, and the reason reaches the caller',
    holds: (sql) => {
      sql.run('CREATE TABLE t (v)')
      const reason = new Error('no')
      same(
        thrown(() => sql.transaction(() => failing(() => sql.run('INSERT INTO t VALUES (1)'), reason))),
        reason,
      )
      same(sql.rows('SELECT v FROM t'), [])
    },
  },
  {
    says: 'transactions nest: the inner one can be undone alone',
    holds: (sql) => {
      sql.run('CREATE TABLE t (v)')
      sql.transaction(() => {
        sql.run('INSERT INTO t VALUES (1)')
        thrown(() => sql.transaction(() => failing(() => sql.run('INSERT INTO t VALUES (2)'), new Error('inner'))))
        sql.transaction(() => sql.run('INSERT INTO t VALUES (3)'))
      })
      same(sql.rows('SELECT v FROM t ORDER BY v'), [[1], [3]])
    },
  },
  {
    says: 'a repeatable transaction keeps what went well beside an inner one that failed, whether run again or not',
    holds: (sql) => {
      sql.run('CREATE TABLE t (v)')
      const given = sql.transaction(() => {
        const all = [1, 2, 3, 4].map((v) =>
          thrown(() =>
            sql.transaction(() => {
              sql.transaction(() => sql.run('INSERT INTO t VALUES (?)', v))
              if (v % 2 === 0) throw new Error(`no ${v}`)
            }),
          ),
        )
        return all.map((reason) => (reason as Error | undefined)?.message ?? 'kept')
      }, 'repeatable')
      same(given, ['kept', 'no 2', 'kept', 'no 4'])
      same(sql.rows('SELECT v FROM t ORDER BY v'), [[1], [3]])
    },
  },
  {
    says: 'a repeatable transaction that throws leaves no trace, and the next one is like any other',
    holds: (sql) => {
      sql.run('CREATE TABLE t (v)')
      const reason = new Error('no')
      const inner = () => sql.transaction(() => failing(() => sql.run('INSERT INTO t VALUES (1)'), reason))
      same(
        thrown(() => sql.transaction(inner, 'repeatable')),
        reason,
      )
      same(sql.rows('SELECT v FROM t'), [])
      sql.transaction(() => sql.run('INSERT INTO t VALUES (2)'), 'repeatable')
      same(sql.rows('SELECT v FROM t'), [[2]])
    },
  },
  {
    says: 'a repeatable transaction is run again, though its work gives another reason for having been cut short',
    holds: (sql) => {
      sql.run('CREATE TABLE t (v)')
      sql.transaction(() => {
        thrown(() => sql.transaction(() => failing(() => sql.run('INSERT INTO t VALUES (1)'), new Error('no'))))
        if (thrown(() => sql.run('INSERT INTO t VALUES (2)'))) throw new Error('another reason')
      }, 'repeatable')
      same(sql.rows('SELECT v FROM t'), [[2]])
    },
  },
  {
    says: 'a guarded transaction is undone alone, and what is around it runs once',
    holds: (sql) => {
      sql.run('CREATE TABLE t (v)')
      let runs = 0
      sql.transaction(() => {
        runs++
        sql.run('INSERT INTO t VALUES (1)')
        sql.transaction(() => {
          const undone = () =>
            sql.transaction(() => failing(() => sql.run('INSERT INTO t VALUES (2)'), new Error('no')), 'guarded')
          thrown(undone)
          sql.run('INSERT INTO t VALUES (3)')
        })
      }, 'repeatable')
      same(runs, 1)
      same(sql.rows('SELECT v FROM t ORDER BY v'), [[1], [3]])
    },
  },
  {
    says: 'what a guarded transaction wrote is undone with the one around it',
    holds: (sql) => {
      sql.run('CREATE TABLE t (v)')
      sql.transaction(() => {
        const guarded = () => sql.transaction(() => sql.run('INSERT INTO t VALUES (1)'), 'guarded')
        thrown(() => sql.transaction(() => failing(guarded, new Error('no'))))
        sql.run('INSERT INTO t VALUES (2)')
      }, 'repeatable')
      same(sql.rows('SELECT v FROM t'), [[2]])
    },
  },
  {
    says: 'however transactions nest, failed ones leave no trace and all others are kept',
    holds: (sql) => {
      sql.run('CREATE TABLE t (v)')
      const chance = diceOf(7)
      for (let i = 0; i < 200; i++) {
        const work = nestOf(chance, 4)
        sql.run('DELETE FROM t')
        thrown(() => sql.transaction(() => nest(sql, work), chance(2) ? 'repeatable' : undefined))
        const expected = kept(work).sort((a, b) => a - b)
        same(
          sql.rows('SELECT v FROM t ORDER BY v').map(([v]) => v),
          expected,
        )
      }
    },
  },
  {
    says: 'a statement that fails inside a transaction does not end it',
    holds: (sql) => {
      sql.run('CREATE TABLE t (v UNIQUE)')
      sql.transaction(() => {
        sql.run('INSERT INTO t VALUES (1)')
        if (thrown(() => sql.run('INSERT INTO t VALUES (1)')) === undefined) throw new Error('The second 1 was taken.')
        sql.run('INSERT INTO t VALUES (2)')
      })
      same(sql.rows('SELECT v FROM t ORDER BY v'), [[1], [2]])
    },
  },
  {
    says: 'within gives what its work gives, and leaves statements that are quick alone',
    holds: (sql) => {
      const tick = sql.tick === '' ? '1' : sql.tick
      same(
        sql.within(60_000, () => sql.rows(`SELECT value FROM json_each('[1,2,3]') WHERE ${tick}`)),
        [[1], [2], [3]],
      )
    },
  },
  {
    says: 'where the host can, a scan beyond its time ends with over_budget, and the next statement runs',
    holds: (sql) => {
      if (sql.tick === '') return
      const upTo = (n: number) =>
        sql.rows(
          `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${n} AND ${sql.tick}) SELECT max(i) FROM n`,
        )
      const code = (work: () => unknown) => (thrown(work) as { code?: string } | undefined)?.code
      same(
        code(() => sql.within(20, () => upTo(1e9))),
        'over_budget',
      )
      same(
        code(() => sql.within(20, () => sql.within(60_000, () => upTo(1e7)))),
        'over_budget',
      )
      same(upTo(1_000), [[1_000]])
    },
  },
]

function same(found: unknown, expected: unknown): void {
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    throw new Error(`Found ${JSON.stringify(found)} where ${JSON.stringify(expected)} was expected.`)
  }
}

function failing(work: () => void, reason: Error): never {
  work()
  throw reason
}
