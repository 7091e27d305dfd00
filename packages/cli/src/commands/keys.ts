import type { Call, Command } from '../command.ts'
import { oneWord, someWords } from '../output/words.ts'
import { UsageError } from '../parse/usage-error.ts'

const COLUMNS = ['$id', 'name', 'keyPrefix', 'scopes', 'status', 'createdAt', 'expiresAt']

export const command: Command = {
  usage: 'keys list\nkeys create NAME\nkeys revoke ID\nkeys delete ID',
  summary: 'lists, creates, revokes and deletes keys',
  flags: {
    scopes: { type: 'string', help: 'the scopes: read:crm,write:Contact; default your own' },
    'expires-at': { type: 'string', help: 'when it expires: 2026-12-31T00:00:00Z' },
    status: { type: 'string', help: 'list only Active, Revoked or Expired ones' },
  },
  examples: ['tilde keys create ci --scopes read:all', 'tilde keys list --status Active', 'tilde keys revoke apiKey_…'],
  heeds: ['dry-run'],
  async run(call) {
    const [action = 'list', ...words] = call.words
    const run = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined
    if (!run) throw new UsageError(`keys has list, create, revoke and delete, not ${action}.`)
    await run({ ...call, words })
  },
}

const ACTIONS: { readonly [action: string]: (call: Call) => Promise<void> } = {
  async list(call) {
    someWords(call, [])
    const { link, flags, out } = call
    const page = await link().$.request('GET', '/api-keys', { query: { status: flags.text('status'), limit: 100 } })
    out.list(page.results, COLUMNS, page)
  },
  async create(call) {
    const { flags, settings, out, link } = call
    const body = {
      name: oneWord(call, 'a name for the key'),
      scopes: flags.text('scopes'),
      expiresAt: flags.text('expires-at'),
    }
    const query = { dryRun: settings.dryRun || undefined }
    const key = await link().$.request('POST', '/api-keys', { body, query })
    out.record(settings.dryRun ? key.result : key)
    if (!settings.dryRun) out.note('The secret is shown only once: save it now.')
  },
  async revoke(call) {
    const key = await verb(call, 'revoke')
    call.out.record(call.settings.dryRun ? (key.result as { [field: string]: unknown }) : key)
  },
  async delete(call) {
    await verb(call, 'delete')
    if (!call.settings.dryRun) call.out.note('Deleted.')
  },
}

async function verb(call: Call, name: string): Promise<{ [field: string]: unknown }> {
  const [id] = someWords(call, ['the id of a key: tilde keys list'])
  return call.link().$.request('POST', `/api-keys/${encodeURIComponent(id!)}/${name}`, {
    body: {},
    query: { dryRun: call.settings.dryRun || undefined },
  })
}
