// The floor: what this machine can do at best with Node, HTTP and SQLite. No validation, no keys, no text index, no
// versions: an entity row and a log row per write, all writes of a tick in one synced commit.
import { createServer } from 'node:http'
import { DatabaseSync } from 'node:sqlite'

const db = new DatabaseSync(process.argv[2]!)
db.exec('PRAGMA journal_mode = WAL')
db.exec('PRAGMA synchronous = FULL')
db.exec('PRAGMA cache_size = -65536')
db.exec('CREATE TABLE IF NOT EXISTS persons (n INTEGER PRIMARY KEY, id TEXT UNIQUE, source TEXT, data TEXT)')
db.exec('CREATE INDEX IF NOT EXISTS persons_source ON persons (source, n)')
db.exec('CREATE TABLE IF NOT EXISTS log (seq INTEGER PRIMARY KEY, id TEXT, data TEXT)')

const insert = db.prepare('INSERT INTO persons (id, source, data) VALUES (?, ?, ?)')
const append = db.prepare('INSERT INTO log (id, data) VALUES (?, ?)')
const byId = db.prepare('SELECT data FROM persons WHERE id = ?')
const change = db.prepare('UPDATE persons SET data = ? WHERE id = ?')
const bySource = db.prepare('SELECT data FROM persons WHERE source = ? ORDER BY n DESC LIMIT 25')
const count = db.prepare('SELECT count(*) FROM persons WHERE source = ?')
for (const statement of [byId, bySource, count]) statement.setReturnArrays(true)

let queue: (() => () => void)[] = []
let serial = Date.now() * 1_000

function write(work: () => () => void): void {
  if (queue.length === 0) setImmediate(commit)
  queue.push(work)
}

function commit(): void {
  const jobs = queue
  queue = []
  db.exec('BEGIN IMMEDIATE')
  const answers = jobs.map((job) => job())
  db.exec('COMMIT')
  for (const answer of answers) answer()
}

function create(given: { readonly source: string }): string {
  const made = `person_${(++serial).toString(36)}`
  const data = JSON.stringify({ $id: made, ...given })
  insert.run(made, given.source, data)
  append.run(made, data)
  return data
}

function update(id: string, given: object): string {
  const [before] = byId.get(id) as unknown as string[]
  const data = JSON.stringify({ ...JSON.parse(before!), ...given })
  change.run(data, id)
  append.run(id, data)
  return data
}

const server = createServer((request, response) => {
  const url = request.url!
  const send = (status: number, body: string) => {
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    response.end(body)
  }
  if (request.method === 'GET' && url.startsWith('/persons?source=')) {
    const source = url.slice('/persons?source='.length)
    const rows = bySource.all(source) as unknown as string[][]
    const [total] = count.get(source) as unknown as number[]
    return send(200, `{"results":[${rows.map(([data]) => data).join(',')}],"total":${total}}`)
  }
  const [, , id = '', verb] = url.split('/')
  if (request.method === 'GET') {
    const row = byId.get(id) as unknown as string[] | undefined
    return row ? send(200, row[0]!) : send(404, '{}')
  }
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const given = verb === 'see' ? { state: 'Seen' } : JSON.parse(Buffer.concat(chunks).toString())
    write(() => {
      if (Array.isArray(given)) {
        const made = given.map(create)
        return () => send(201, `[${made.join(',')}]`)
      }
      const data = id === '' ? create(given) : update(id, given)
      return () => send(id === '' ? 201 : 200, data)
    })
  })
})

server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`http://127.0.0.1:${(server.address() as { port: number }).port}\n`),
)
