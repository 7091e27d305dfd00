// Transfers as a small program on Node and PostgreSQL does them: one transaction for each request, which locks both rows.
import postgres from 'postgres'
import { serve } from './serve.ts'

const [url = '', accounts = '0', balance = '0', connections = '10'] = process.argv.slice(2)
const sql = postgres(url, { max: Number(connections) })
await sql`CREATE TABLE accounts (id integer PRIMARY KEY, balance bigint NOT NULL)`
await sql`
  INSERT INTO accounts (id, balance)
  SELECT id, ${Number(balance)}
  FROM generate_series(0, ${Number(accounts) - 1}) AS id`

serve({
  transfer: ({ from, to, amount }) =>
    sql.begin(async (own) => {
      // In one order, so that no two transfers wait for each other.
      const rows = await own<{ id: number; balance: string }[]>`
        SELECT id, balance FROM accounts WHERE id IN (${from}, ${to}) ORDER BY id FOR UPDATE`
      const source = rows.find(({ id }) => id === from)
      const target = rows.find(({ id }) => id === to)
      if (!source || !target || source === target || Number(source.balance) < amount) throw new Error('refused')
      await own`UPDATE accounts SET balance = ${Number(source.balance) - amount} WHERE id = ${from}`
      await own`UPDATE accounts SET balance = ${Number(target.balance) + amount} WHERE id = ${to}`
    }),
  async total() {
    const [row] = await sql`SELECT sum(balance) AS total FROM accounts`
    return Number(row!.total)
  },
})
