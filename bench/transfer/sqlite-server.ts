// Transfers as a small program on Node and SQLite does them: one transaction and one sync to disk for each request.
import { DatabaseSync } from 'node:sqlite'
import { serve } from './serve.ts'

const [file = ':memory:', accounts = '0', balance = '0'] = process.argv.slice(2)
const db = new DatabaseSync(file)
db.exec('PRAGMA journal_mode = WAL')
db.exec('PRAGMA synchronous = FULL')
db.exec('CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)')

const insert = db.prepare('INSERT INTO accounts (id, balance) VALUES (?, ?)')
const both = db.prepare('SELECT id, balance FROM accounts WHERE id IN (?, ?)')
const change = db.prepare('UPDATE accounts SET balance = ? WHERE id = ?')
const total = db.prepare('SELECT sum(balance) AS total FROM accounts')

db.exec('BEGIN')
for (let id = 0; id < Number(accounts); id++) insert.run(id, Number(balance))
db.exec('COMMIT')

serve({
  transfer({ from, to, amount }) {
    db.exec('BEGIN IMMEDIATE')
    try {
      const rows = both.all(from, to) as { id: number; balance: number }[]
      const source = rows.find(({ id }) => id === from)
      const target = rows.find(({ id }) => id === to)
      if (!source || !target || source === target || source.balance < amount) throw new Error('refused')
      change.run(source.balance - amount, from)
      change.run(target.balance + amount, to)
      db.exec('COMMIT')
    } catch (reason) {
      db.exec('ROLLBACK')
      throw reason
    }
  },
  total: () => total.get()!.total as number,
})
