import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { KEY, startServer } from './server.ts'

/** Below that of every thread of the service except those of scripts. The tests may run under nice themselves. */
const NICE = Math.min(getPriority() + 15, 19)

test.skipIf(process.platform !== 'linux')(
  'a service under nice does all that it has threads for, and none is above it',
  async () => {
    const data = mkdtempSync(join(tmpdir(), 'tildebase-nice-'))
    onTestFinished(() => rmSync(data, { recursive: true, force: true }))
    const { url, process, kill } = await startServer(data, {}, ['--workers', '1'], ['nice', '-n', '15'])
    onTestFinished(kill)
    const send = (method: string, path: string, body: string | Uint8Array<ArrayBuffer>, type = 'application/json') =>
      fetch(`${url}${path}`, { method, body, headers: { authorization: `Bearer ${KEY}`, 'content-type': type } })
    const read = (path: string) => fetch(`${url}${path}`, { headers: { authorization: `Bearer ${KEY}` } })

    const created = await send('POST', '/~acme/Contact', '{"name": "Ada"}')
    const script = await send('POST', '/~acme/do', '{"code": "return 1 + 1"}')
    await send('PUT', '/~acme/inbox', '{"addresses": ["desk@acme.example"]}')
    const mail = await send('POST', '/~acme/inbox/email', LARGE_MAIL, 'message/rfc822')
    const log = await (await read('/operator/tenants/acme/log')).text()
    const replayed = await send('PUT', '/operator/tenants/replayed/log', log, 'application/x-ndjson')
    const file = new Uint8Array(await (await read('/operator/tenants/acme/backup')).arrayBuffer())
    const restored = await send('PUT', '/operator/tenants/restored/restore', file, 'application/octet-stream')

    const statuses = [created, script, mail, replayed, restored].map(({ status }) => status)
    expect(statuses).toEqual([201, 200, 201, 201, 201])
    expect(Math.min(...prioritiesOf(process.pid!))).toBe(NICE)
    expect(Math.max(...prioritiesOf(process.pid!))).toBe(19)
  },
)

/** Too large to be read without a thread. */
const LARGE_MAIL = `From: ada@example.org\r\nTo: desk@acme.example\r\nMessage-ID: <1@example.org>\r\n\r\n${'Help! '.repeat(5_000)}`

/** The priority of each thread of a process, as `nice` counts it. */
function prioritiesOf(pid: number): readonly number[] {
  return readdirSync(`/proc/${pid}/task`).map((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')
    // The name in parentheses may have spaces. It is the second value; the nineteenth is the priority.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
  })
}
