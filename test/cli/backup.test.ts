import { cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openArchive } from '../../packages/cli/src/backup/open.ts'
import { folderPlace } from '../../packages/cli/src/backup/place.ts'
import { examine } from '../../packages/cli/src/backup/portable.ts'
import { type Reply, ROOT, type TestHost, testHost } from '../host.ts'
import { type Tilde, tildeWith } from './tilde.ts'

let host: TestHost
let tilde: Tilde
beforeAll(async () => {
  host = await testHost()
  tilde = tildeWith({ TILDE_URL: host.url, TILDE_ROOT_KEY: ROOT })
})
afterAll(() => host.stop())

describe('a folder of segments', () => {
  test('has what is new added to it, and makes the same tenant again', async () => {
    const { body: ada } = await host.request('POST', '/~steps/Contact', { name: 'Ada', note: 'Grüße\u2028😀' })
    const first = await tilde('backup', 'steps', '--to', 'steps', '--json')
    const nothing = await tilde('backup', 'steps', '--to', 'steps', '--json')
    await host.request('POST', `/~steps/Contact/${ada.$id}/qualify`)
    await host.request('PUT', '/~steps/schema/Ship', { name: 'string!' })
    const second = await tilde('backup', 'steps', '--to', 'steps', '--json')
    const restored = await tilde('restore', 'steps', '--as', 'steps-again', '--json')
    const verified = await tilde('verify', '--from', 'steps', '--json')

    expect([first, nothing, second].map(({ json }) => [json.events, json.seq])).toEqual([
      [1, 1],
      [0, 1],
      [2, 3],
    ])
    expect(verified.json).toMatchObject({ tenant: 'steps', ok: true, events: 3, head: (await verdict('steps')).head })
    expect(await verdict('steps-again')).toMatchObject({ ok: true, head: (await verdict('steps')).head })
    expect(restored.json).toMatchObject({ events: 3, head: (await verdict('steps')).head.hash })
    expect((await host.request('GET', `/~steps-again/Contact/${ada.$id}`)).body.stage).toBe('Qualified')
  })

  test('continues after its last whole event, wherever the writing of it was cut off', async () => {
    await fill('torn', 3)
    await tilde('backup', 'torn', '--to', 'torn')
    const folder = join(tilde.folder, 'torn')
    const [name] = segments('torn')
    const whole = readFileSync(join(folder, name!))
    const ends = [...whole.entries()].filter(([, byte]) => byte === 10).map(([at]) => at + 1)

    for (let length = 0; length <= whole.length; length += 7) {
      writeFileSync(join(folder, name!), whole)
      truncateSync(join(folder, name!), length)
      const archive = await openArchive(folderPlace(folder), 'torn')
      expect(archive.head.seq, `cut at ${length}`).toBe(Math.max(ends.filter((end) => end <= length).length - 1, 0))
      await archive.close()
    }
    await tilde('backup', 'torn', '--to', 'torn')
    expect(readFileSync(join(folder, name!))).toEqual(whole)
  })

  test('is resumed when what closed a segment was cut off', async () => {
    await fill('closing', 3)
    await tilde('backup', 'closing', '--to', 'closing')
    const folder = join(tilde.folder, 'closing')
    const open = join(folder, segments('closing')[0]!)
    const content = readFileSync(open)

    writeFileSync(`${open}.gz.part`, gzipSync(content).subarray(0, 20))
    await (await openArchive(folderPlace(folder), 'closing')).close()
    expect(segments('closing')).toEqual(['000000000000001.ndjson'])
    writeFileSync(`${open}.gz`, gzipSync(content))
    const archive = await openArchive(folderPlace(folder), 'closing')
    expect([segments('closing'), archive.head.seq]).toEqual([['000000000000001.ndjson.gz'], 3])
    await archive.close()
    await host.request('POST', '/~closing/Contact', { name: 'Later' })
    await tilde('backup', 'closing', '--to', 'closing')

    expect(segments('closing')).toEqual(['000000000000001.ndjson.gz', '000000000000004.ndjson'])
    expect((await tilde('restore', 'closing', '--as', 'closing-again')).code).toBe(0)
  })

  test('belongs to one tenant, and to the one whose events it holds', async () => {
    await fill('mine', 3)
    await fill('other', 3)
    await tilde('backup', 'mine', '--to', 'mine')
    const other = await tilde('backup', 'other', '--to', 'mine')
    await host.request('DELETE', '/operator/tenants/mine')
    await fill('mine', 2)
    const shorter = await tilde('backup', 'mine', '--to', 'mine')
    await fill('mine', 2)
    const another = await tilde('backup', 'mine', '--to', 'mine')

    expect([other.code, shorter.code, another.code]).toEqual([1, 1, 1])
    expect(other.err).toContain('holds a backup of mine')
    expect(another.err).toContain('Event 3 of mine is not the one in mine')
    expect((await tilde('restore', 'mine', '--as', 'mine-before', '--json')).json.events).toBe(3)
  })
})

describe('following', () => {
  test('a backup that is killed again and again loses nothing', async () => {
    await fill('killed', 1)
    let written = 1
    let writing = true
    const writer = (async () => {
      for (; writing; written++) await host.request('POST', '/~killed/Contact', { name: `Person ${written}` })
    })()
    for (let kills = 0, seen = 0; kills < 4; kills++) {
      const child = tilde.start('backup', 'killed', '--to', 'killed', '--follow', '--json')
      await new Promise<void>((done) => {
        child.stdout!.on('data', (chunk) => {
          const { seq } = JSON.parse(String(chunk).trim().split('\n').at(-1)!)
          if (seq > seen + 20) done()
          seen = Math.max(seen, seq)
        })
      })
      const gone = new Promise((done) => child.once('exit', done))
      child.kill('SIGKILL')
      await gone
    }
    writing = false
    await writer
    const last = await tilde('backup', 'killed', '--to', 'killed', '--json')
    const restored = await tilde('restore', 'killed', '--as', 'killed-again', '--json')

    expect(last.json.seq).toBe(written)
    expect(restored.json).toMatchObject({ events: written, head: (await verdict('killed')).head.hash })
  })

  test('it waits while nothing happens, and continues when the service was away', async () => {
    const data = join(tilde.folder, 'data')
    const other = await testHost({}, { data })
    // A connection that is kept from before may turn out to be closed.
    const write = (at: TestHost) =>
      expect.poll(() => at.request('POST', '/~away/Contact', { name: 'Ada' }).then(statusOf, () => 0)).toBe(201)
    await write(other)
    const child = tilde.start('backup', 'away', '--to', 'away', '--follow', '--url', other.url, '--json')
    const seqs: number[] = []
    child.stdout!.on('data', (chunk) => {
      for (const line of String(chunk).trim().split('\n')) seqs.push(JSON.parse(line).seq)
    })
    await expect.poll(() => seqs, { timeout: 20_000 }).toEqual([1])
    await write(other)
    await expect.poll(() => seqs, { timeout: 20_000 }).toEqual([1, 2])
    await other.stop()
    const back = await testHost({}, { data, port: new URL(other.url).port })
    await write(back)
    await expect.poll(() => seqs, { timeout: 30_000 }).toEqual([1, 2, 3])
    const ended = new Promise((done) => child.once('exit', done))
    child.kill('SIGTERM')

    expect(await ended).toBe(0)
    await back.stop()
  })

  test('it needs a folder', async () => {
    expect(await tilde('backup', 'acme', '--follow')).toMatchObject({ code: 2, err: expect.stringContaining('--to') })
  })
})

describe('a moment of the past', () => {
  test('is restored as it is read and as it is forked', async () => {
    const moments: string[] = []
    for (let i = 0; i < 12; i++) {
      const { body } = await host.request('POST', '/~past/Contact', {
        name: `Person ${i}`,
        email: `p${i % 5}@x.${i}.de`,
      })
      if (i % 3 === 1) await host.request('POST', `/~past/Contact/${body.$id}/qualify`)
      if (i % 3 === 2) await host.request('DELETE', `/~past/Contact/${body.$id}`)
      if (i === 6) await host.request('PUT', '/~past/schema/Contact', { email: 'string#' })
      if (i % 4 === 3) moments.push((await newest('past')).timestamp)
    }
    await tilde('backup', 'past', '--to', 'past')

    for (const [i, moment] of moments.entries()) {
      const restored = await tilde('restore', 'past', '--as', `past-r${i}`, '--as-of', moment, '--json')
      await tilde('fork', 'past', `past-f${i}`, '--as-of', moment)

      const [one, two] = await Promise.all([verdict(`past-r${i}`), verdict(`past-f${i}`)])
      expect([one.ok, one.head], moment).toEqual([true, two.head])
      expect(restored.json.at).toBe(moment)
      for (const list of ['Contact?sort=name', 'Contact?filter={"stage":"Qualified"}']) {
        const then = (await host.request('GET', `/~past/${list}&asOf=${moment}`)).text
        for (const copy of [`past-r${i}`, `past-f${i}`]) {
          expect(named((await host.request('GET', `/~${copy}/${list}`)).text), `${list} of ${copy}`).toBe(named(then))
        }
      }
    }
  })

  test('is an event as well, and must be one of the backup', async () => {
    await fill('seqs', 5)
    await tilde('backup', 'seqs', '--to', 'seqs')

    expect((await tilde('restore', 'seqs', '--as', 'seqs-three', '--as-of', '3', '--json')).json.events).toBe(3)
    expect((await tilde('restore', 'seqs', '--as', 'seqs-no', '--as-of', '6')).err).toContain('ends with event 5')
    expect((await tilde('restore', 'seqs', '--as', 'seqs-no', '--as-of', '2020-01-01T00:00:00Z')).code).toBe(1)
    expect((await tilde('restore', 'seqs', '--as', 'seqs-no', '--as-of', 'noon')).code).toBe(2)
    expect((await tilde('restore', 'seqs', '--as', 'seqs')).err).toContain('The tenant seqs already exists')
  })
})

describe('a damaged backup', () => {
  test('is refused with the first event that cannot be had', async () => {
    const note = 'x'.repeat(900_000)
    for (let i = 1; i <= 22; i++) await host.request('POST', '/~large/Contact', { name: `Person ${i}`, note })
    await tilde('backup', 'large', '--to', 'large')
    const [closed, open] = segments('large') as [string, string]
    expect([closed.endsWith('.gz'), open.endsWith('.gz')]).toEqual([true, false])
    expect((await tilde('restore', 'large', '--as', 'large-again')).code).toBe(0)

    const change = (name: string, text: (whole: string) => string) => (folder: string) => {
      const path = join(folder, name)
      const packed = name.endsWith('.gz')
      const content = readFileSync(path)
      const changed = text((packed ? gunzipSync(content) : content).toString())
      writeFileSync(path, packed ? gzipSync(changed) : changed)
    }
    const cases: [string, number, (folder: string) => void][] = [
      ['changed', 7, change(closed, (text) => text.replace('Person 7', 'Nobody'))],
      ['lacking', 1, (folder) => rmSync(join(folder, closed))],
      ['halved', 1, (folder) => truncateSync(join(folder, closed), 100)],
      ['shortened', Number(open.slice(0, 15)) - 1, change(closed, (text) => withoutLast(text))],
      ['of another form', 1, change(closed, (text) => text.replace('"form":1', '"form":2'))],
      ['scribbled', 22, change(open, (text) => `${withoutLast(text)}{"seq":\n`)],
    ]
    for (const [name, seq, harm] of cases) {
      const folder = join(tilde.folder, name)
      cpSync(join(tilde.folder, 'large'), folder, { recursive: true })
      harm(folder)

      await expect(examine(folderPlace(folder), null), name).rejects.toMatchObject({ code: 'damaged', about: { seq } })
    }
    const refused = await tilde('restore', 'changed', '--as', 'large-changed')
    const verified = await tilde('verify', '--from', 'changed')
    const others = []
    for (const [name] of cases.slice(1)) others.push(await tilde('restore', name, '--as', 'large-changed'))
    const later = await tilde('restore', 'scribbled', '--as', 'large-changed', '--as-of', '3')

    expect(verified).toMatchObject({ code: 1, err: refused.err })
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('Event 7 cannot be read from changed/') })
    expect(others.map(({ code, err }) => [code, Number(/Event (\d+) cannot be read/.exec(err)?.[1])])).toEqual(
      cases.slice(1).map(([, seq]) => [1, seq]),
    )
    expect(later).toMatchObject({ code: 1, err: expect.stringContaining('Event 22 cannot be read from scribbled/') })
    expect((await host.request('GET', '/operator/tenants/large-changed')).status).toBe(404)
  })
})

describe('keys and webhooks', () => {
  test('a tenant that is restored under its own name continues with its keys; what was revoked since stays so', async () => {
    const kept = await host.key('doors', 'write:crm')
    const { body: revoked } = await host.request('POST', '/~doors/api-keys', { name: 'b', scopes: 'write:crm' })
    const moment = (await newest('doors')).timestamp
    await new Promise((done) => setTimeout(done, 2))
    await host.request('POST', `/~doors/api-keys/${revoked.$id}/revoke`)
    await tilde('backup', 'doors', '--to', 'doors')
    await tilde('restore', 'doors', '--as', 'doors-copy', '--as-of', moment)
    await host.request('DELETE', '/operator/tenants/doors')
    await tilde('restore', 'doors', '--as', 'doors', '--as-of', moment)

    expect((await host.request('GET', `/~doors/api-keys/${revoked.$id}`)).body.status).toBe('Active')
    expect((await host.as(kept)('POST', '/~doors/Contact', { name: 'Ada' })).status).toBe(201)
    expect((await host.as(revoked.secret)('GET', '/~doors/Contact')).status).toBe(401)
    expect((await host.request('GET', '/operator/tenants/doors-copy/log')).text).not.toContain('"beside"')
  })
})

const statusOf = ({ status }: Reply) => status

async function fill(slug: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await host.request('POST', `/~${slug}/Contact`, { name: `Person ${i}` })
}

async function verdict(slug: string): Promise<any> {
  return (await host.request('GET', `/operator/tenants/${slug}/verify`)).body
}

async function newest(slug: string): Promise<any> {
  return (await host.request('GET', `/~${slug}/events?limit=1000`)).body.results.at(-1)
}

function segments(folder: string): string[] {
  return readdirSync(join(tilde.folder, folder))
    .filter((name) => name !== 'secrets.ndjson' && name !== 'checkpoint.txt')
    .sort()
}

function withoutLast(lines: string): string {
  return lines.slice(0, lines.lastIndexOf('\n', lines.length - 2) + 1)
}

/** What copies say of the same thing differs in the name of the tenant alone. */
function named(text: string): string {
  return text.replaceAll(/~past(-\w+)?/g, '~x')
}
