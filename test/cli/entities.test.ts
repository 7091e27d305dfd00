import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { type Tilde, tildeWith } from './tilde.ts'

let host: TestHost
let tilde: Tilde
beforeAll(async () => {
  host = await testHost()
  tilde = tildeWith({ TILDE_URL: host.url, TILDE_KEY: ROOT, TILDE_TENANT: 'acme' })
})
afterAll(() => host.stop())

describe('entities', () => {
  verifies(['cli.data', 'surface.same'], 'what one surface writes, the others read', async () => {
    const made = await tilde('Contact.create', '--name', 'Ada', '--leadScore', '7', '--json')
    const id = made.json.$id

    const read = await host.request('GET', `/~acme/Contact/${id}`)
    await host.request('POST', `/~acme/Contact/${id}/qualify`)
    const found = await tilde('Contact.find', '--stage', 'Qualified', '--name', 'Ada', '--fields', 'name,leadScore')

    expect(read.body).toEqual(made.json)
    expect(found).toMatchObject({ code: 0, out: `${id}\tAda\t7\n`, err: '' })
  })

  test('a field with the name of a global flag is given to the type', async () => {
    const url = 'https://example.org/hook'
    const webhook = await tilde('Webhook.create', '--url', url, '--events', 'Contact.created', '--json')
    const moved = await tilde('do', 'Webhook.update', webhook.json.$id, '--url', `${url}2`, '--json')
    const flag = await tilde('FeatureFlag.create', '--key', 'dark-mode', '--name', 'Dark', '--json')
    const found = await tilde('Webhook.count', '--url', host.url)
    const help = await tilde('Webhook.create', '--help')

    expect([webhook.json.url, moved.json.url, flag.json.key]).toEqual([url, `${url}2`, 'dark-mode'])
    expect(found).toMatchObject({ code: 0, out: '1\n' })
    expect(help.out).toContain('--url …')
    expect(help.out).toContain('the url of the Webhook; that of the service comes from TILDE_URL or --profile')
  })

  test('a life: created, updated, run through a verb, deleted, restored, rolled back', async () => {
    const { json: bob } = await tilde('Contact.create', '--data', '{"name":"Bob","nick":"B"}', '--json')
    const before = new Date().toISOString()
    const updated = await tilde('Contact.update', bob.$id, '--title', 'Dr', '--set', 'nick=null', '--json')
    const qualified = await tilde('do', 'Contact.qualify', bob.$id, '--json')
    const deleted = await tilde('Contact.delete', bob.$id)
    const gone = await tilde('Contact.get', bob.$id)
    const past = await tilde('Contact.get', bob.$id, '--as-of', before, '--fields', 'nick', '--json')
    await tilde('Contact.restore', bob.$id)
    const back = await tilde('Contact.rollback', bob.$id, '--as-of', before, '--json')
    const history = await tilde('Contact.history', bob.$id)
    const diff = await tilde('Contact.diff', bob.$id, '--from', '1', '--to', '3')

    expect(updated.json).toMatchObject({ title: 'Dr', $version: 2 })
    expect(updated.json.nick ?? null).toBeNull()
    expect(qualified.json.stage).toBe('Qualified')
    expect(deleted).toMatchObject({ code: 0, out: '', err: '' })
    expect(gone).toMatchObject({ code: 1, out: '', err: `tilde: There is no Contact ${bob.$id}.\n` })
    expect(past.json.nick).toBe('B')
    expect(back.json).toMatchObject({ stage: 'Lead', nick: 'B' })
    expect(history.out.split('\n').map((line) => line.split('\t')[2])).toEqual([
      'rollback',
      'restore',
      'delete',
      'qualify',
      'update',
      'create',
      undefined,
    ])
    expect(diff.out).toContain('stage\tLead\tQualified\n')
  })

  test('a draft comes from standard input when no flag gives one', async () => {
    const { json } = await tilde.fed('{"name":"Cleo"}', 'Contact.create', '--json')

    expect(json.name).toBe('Cleo')
  })

  test('flags become values of the type of their field', async () => {
    const campaign = await tilde('FeatureFlag.create', '--name', 'x', '--set', 'key=dark', '--json')
    const numbers = await tilde('Deal.create', '--name', 'Engine', '--value', '1e3', '--json')

    const measured = await tilde('Deal.aggregate', '--group', 'stage', '--sum', 'value')

    expect(measured.out).toBe('Prospecting\t1\t1000\n')
    expect(campaign.json.key).toBe('dark')
    expect(numbers.json.value).toBe(1_000)
  })

  test('find takes filters, sort, limit, includes and the fields of relations', async () => {
    const { json: acme } = await tilde('Organization.create', '--name', 'Acme', '--json')
    for (const name of ['x1', 'x2', 'x3']) {
      await host.request('POST', '/~acme/Contact', { name, organization: acme.$id })
    }

    const page = await tilde('Contact.find', '--organization.name', 'Acme', '--sort', '-name', '--limit', '2', '--json')
    const one = await tilde(
      'Contact.findOne',
      '--filter',
      '{"name":{"$regex":"^x2"}}',
      '--include',
      'organization',
      '--json',
    )
    const count = await tilde('Contact.count', '--organization', acme.$id)
    const none = await tilde('Contact.findOne', '--name', 'nobody')
    const searched = await tilde('search', 'Contact', 'x3', '--json')

    expect(page.json).toMatchObject({ total: 3, hasMore: true, results: [{ name: 'x3' }, { name: 'x2' }] })
    expect(one.json.organization.name).toBe('Acme')
    expect(count.out).toBe('3\n')
    expect(none).toMatchObject({ code: 1, err: 'tilde: No Contact fits.\n' })
    expect(searched.json.results).toMatchObject([{ name: 'x3' }])
    expect((await tilde('fetch', 'Organization', acme.$id, '--json')).json.name).toBe('Acme')
  })

  test('a dry run tells what would be, and writes nothing', async () => {
    const dry = await tilde('Contact.create', '--name', 'Ghost', '--dry-run', '--json')

    expect(dry.json).toMatchObject({ dryRun: true, status: 201, result: { name: 'Ghost' } })
    expect((await tilde('Contact.count', '--name', 'Ghost')).out).toBe('0\n')
  })

  test('what others stored does not steer the terminal', async () => {
    const { json } = await tilde('Contact.create', '--data', '{"name":"a\\u001b[2J\\tb\\nc"}', '--json')

    expect((await tilde('Contact.get', json.$id, '--fields', 'name')).out).toContain('name\ta\\u001b[2J\\tb\\nc\n')
  })
})

describe('what goes wrong is said in one line', () => {
  test.each<[string, string[], number, string]>([
    ['a type that is not there', ['Contct.find'], 2, 'There is no type Contct. Did you mean Contact'],
    ['a verb that is not there', ['Contact.qualfy', 'x'], 2, 'Contact has no verb qualfy; did you mean qualify?'],
    ['a field that is not there', ['Contact.find', '--stge', 'Lead'], 2, 'no flag --stge; did you mean --stage?'],
    ['a flag without its value', ['Contact.find', '--stage'], 2, '--stage needs a value'],
    ['a word of an enum that is none', ['Contact.create', '--name', 'x', '--stage', 'Leed'], 2, 'did you mean Lead?'],
    [
      'a number that is not valid',
      ['Deal.create', '--name', 'x', '--value', 'much'],
      2,
      '--value needs a number, not much.',
    ],
    ['JSON that is not valid', ['Contact.find', '--filter', '{name'], 2, '--filter needs JSON'],
    ['a command that is not there', ['serv'], 2, 'There is no command serv; did you mean serve?'],
    ['a type without a verb', ['Invoice'], 2, 'Did you mean Invoice.find?'],
    ['an id that is missing', ['Contact.get'], 2, 'Give the id.'],
    ['an unexpected argument', ['Contact.get', 'a', 'b'], 2, 'Unexpected argument: b.'],
    ['a wrong key', ['Contact.count', '--key', 'tb_wrong'], 2, 'The key is not valid for this service.'],
    ['a tenant that cannot be', ['Contact.count', '--tenant', 'A_B'], 2, 'A tenant name has 1 to 63'],
    ['an address that is not valid', ['Contact.count', '--url', 'nowhere'], 2, '--url must be a URL'],
    ['a draft that is refused', ['Contact.create', '--email', 'x'], 1, 'name: is required'],
    ['a state that does not allow it', ['Contact.get', 'contact_none'], 1, 'There is no Contact contact_none.'],
  ])('%s', async (_, args, code, sentence) => {
    const ended = await tilde(...args)

    expect(ended).toMatchObject({ code, out: '' })
    expect(ended.err).toContain(sentence)
    expect(ended.err.trimEnd().split('\n')).toHaveLength(1)
  })

  test('a server that is not there', async () => {
    const dead = await testHost()
    await dead.stop()
    const ended = await tilde('Contact.count', '--url', dead.url)

    expect(ended).toMatchObject({ code: 2, out: '' })
    expect(ended.err).toBe(`tilde: ${dead.url} cannot be reached (ECONNREFUSED). Is the server running there?\n`)
  })
})
