import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { hashOf, send } from '../content/content.ts'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { type Tilde, tildeWith } from './tilde.ts'

let host: TestHost
let tilde: Tilde
beforeAll(async () => {
  host = await testHost()
  tilde = tildeWith({ TILDE_URL: host.url, TILDE_ROOT_KEY: ROOT })
})
afterAll(() => host.stop())

verifies(
  'file.backup.folder',
  'a folder of segments has the files, and a second backup adds only new ones',
  async () => {
    await host.request('PUT', '/~papers/schema/Deal', { contract: 'file' })
    const { body } = await host.request('POST', '/~papers/Deal', { name: 'x' })
    const path = `Deal/${body.$id}/contract`
    await send(host, 'POST', `/~papers/${path}`, 'first', { 'content-type': 'text/plain' })

    expect((await tilde('backup', 'papers', '--to', 'papers', '--json')).code).toBe(0)
    const first = readdirSync(join(tilde.folder, 'papers', 'files'))
    await send(host, 'POST', `/~papers/${path}`, 'second', { 'content-type': 'text/plain' })
    expect((await tilde('backup', 'papers', '--to', 'papers', '--json')).code).toBe(0)
    const second = readdirSync(join(tilde.folder, 'papers', 'files'))

    expect(first).toEqual([hashOf('first').slice('sha256:'.length)])
    expect(second).toHaveLength(2)
    const restored = await tilde('restore', 'papers', '--as', 'papers-again', '--json')
    expect(restored.err).toBe('')
    expect((await send(host, 'GET', `/~papers-again/${path}`, null)).text).toBe('second')
    expect((await tilde('backup', 'papers', '-o', 'papers.db')).code).toBe(0)
    expect((await tilde('restore', 'papers.db', '--as', 'papers-file', '--json')).json.missing).toEqual([])
    expect((await send(host, 'GET', `/~papers-file/${path}`, null)).text).toBe('second')
  },
)

verifies('file.cli', 'the command line sends, reads and links files', async () => {
  await host.request('PUT', '/~cli/schema/Deal', { contract: 'file', papers: 'file[]' })
  const cli = tildeWith({ TILDE_URL: host.url, TILDE_KEY: ROOT, TILDE_TENANT: 'cli' })
  writeFileSync(join(cli.folder, 'a.pdf'), '%PDF-1.7 a')
  writeFileSync(join(cli.folder, 'b.txt'), 'b')

  const asset = (await cli('Asset.create', '--name', 'A', '--file', '@./a.pdf', '--json')).json
  expect(asset).toMatchObject({ filename: 'a.pdf', mimeType: 'application/pdf', file: { hash: hashOf('%PDF-1.7 a') } })
  const uploaded = await cli('Asset.upload', asset.$id, './b.txt', '--json')
  expect(uploaded.json.file).toEqual({ hash: hashOf('b'), size: 1, type: 'text/plain', name: 'b.txt' })

  const files = ['--file', 'contract=@./a.pdf', '--file', 'papers=@./a.pdf', '--file', 'papers=@./b.txt']
  const deal = (await cli('Deal.create', '--name', 'D', ...files, '--json')).json
  expect([deal.contract.name, ...deal.papers.map(({ name }: { name: string }) => name)]).toEqual([
    'a.pdf',
    'a.pdf',
    'b.txt',
  ])
  const updated = await cli('Deal.update', deal.$id, '--file', 'contract=@./b.txt', '--name', 'E', '--json')
  expect(updated.json).toMatchObject({ name: 'E', contract: { hash: hashOf('b') } })

  expect((await cli('Deal.download', deal.$id, 'papers', '--index', '0', '-o', 'out.pdf')).code).toBe(0)
  expect(readFileSync(join(cli.folder, 'out.pdf'), 'utf8')).toBe('%PDF-1.7 a')
  const past = await cli('Deal.download', deal.$id, 'contract', '--as-of', deal.updatedAt, '-o', '-')
  expect(past.out).toBe('%PDF-1.7 a')
  const link = (await cli('Asset.link', asset.$id, '--expires', '1m', '--json')).json
  expect(await (await fetch(link.url)).text()).toBe('b')

  const proposed = (await cli('Asset.upload', asset.$id, './a.pdf', '--propose', 'Better', '--json')).json
  expect(proposed).toMatchObject({ title: 'Better', operationCount: 1 })
  for (const [words, sentence] of [
    [['Deal.upload', deal.$id, './a.pdf'], 'Name the field: Deal has contract, papers'],
    [['Deal.update', deal.$id, '--file', 'papers=@./a.pdf'], 'papers is a list. Add to it with'],
    [['Asset.upload', asset.$id, './none.pdf'], 'The file ./none.pdf cannot be read.'],
    [['Contact.upload', 'contact_1', './a.pdf'], 'Contact has no verb upload'],
  ] as const) {
    const refused = await cli(...words)
    expect(refused.err).toContain(sentence)
    expect(refused.code).not.toBe(0)
  }
})

verifies(
  'file.export',
  'a folder of an export with its files becomes the same entities in another tenant',
  async () => {
    const fields = { name: 'string!', label: 'file', papers: 'file[]' }
    for (const tenant of ['out', 'in']) await host.request('PUT', `/~${tenant}/schema/Parcel`, fields)
    const out = tildeWith({ TILDE_URL: host.url, TILDE_KEY: ROOT, TILDE_TENANT: 'out' })
    const { body: parcel } = await host.request('POST', '/~out/Parcel', { name: 'P' })
    await host.request('POST', '/~out/Parcel', { name: 'empty' })
    for (const [field, type, text] of [
      ['label', 'text/plain', 'same'],
      ['papers', 'text/markdown', 'same'],
      ['papers', 'application/pdf', '%PDF'],
    ] as const)
      await send(host, 'POST', `/~out/Parcel/${parcel.$id}/${field}?name=${field}.x`, text, { 'content-type': type })

    expect((await out('export', 'Parcel', '--files', '-o', 'parcels')).code).toBe(0)
    const imported = await out('import', 'parcels', '--tenant', 'in', '--json')

    expect([imported.err, imported.json.errors]).toEqual(['', 0])
    expect(readdirSync(join(out.folder, 'parcels', 'files'))).toHaveLength(2)
    const shown = async (tenant: string) =>
      (await host.request('GET', `/~${tenant}/Parcel?sort=name&fields=name,label,papers`)).body.results
    expect(await shown('in')).toEqual(await shown('out'))
    expect((await send(host, 'GET', `/~in/Parcel/${parcel.$id}/papers/1`, null)).text).toBe('%PDF')
  },
)
