import type { Call, Command } from '../command.ts'
import { jsonObject } from '../entities/type.ts'
import { oneWord, someWords } from '../output/words.ts'
import { UsageError } from '../parse/usage-error.ts'

const COLUMNS = ['id', 'title', 'of', 'askedAt', 'expiresAt']

export const command: Command = {
  usage: ['asks list', 'asks show ID', 'asks approve ID [--fields JSON]', 'asks reject ID [--fields JSON]'].join('\n'),
  summary: 'lists the questions of workflows that wait for you, and answers them',
  flags: {
    fields: { type: 'string', help: 'approve, reject: what the question asks for, as a JSON object' },
    limit: { type: 'string', help: 'list: how many, 1 to 100; default 25' },
    cursor: { type: 'string', help: 'list: the cursor of the previous page' },
  },
  examples: ['tilde asks list', `tilde asks approve ask_… --fields '{"amount":100}'`, 'tilde asks reject ask_…'],
  async run(call) {
    const [action = 'list', ...words] = call.words
    const run = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined
    if (!run) throw new UsageError(`asks has ${Object.keys(ACTIONS).join(', ')}, not ${action}.`)
    await run({ ...call, words })
  },
}

const ACTIONS: { readonly [action: string]: (call: Call) => Promise<void> } = {
  async list(call) {
    someWords(call, [])
    const { link, out, flags } = call
    const query = { limit: flags.text('limit'), cursor: flags.text('cursor') }
    const page = await link().$.request('GET', '/asks', { query })
    out.list(page.results, COLUMNS, page)
    if (page.hasMore) out.note(`${page.results.length} of ${page.total}. More: --cursor ${page.cursor}`)
  },
  show: async (call) => call.out.record((await call.link().$.asks.get(idOf(call))) as never),
  approve: (call) => answer(call, 'Approved'),
  reject: (call) => answer(call, 'Rejected'),
}

async function answer(call: Call, given: 'Approved' | 'Rejected'): Promise<void> {
  const { link, out, flags } = call
  const fields = flags.text('fields')
  const parsed = fields === undefined ? undefined : jsonObject(fields, '--fields')
  out.record((await link().$.asks.answer(idOf(call), given, parsed as never)) as never)
}

function idOf(call: Call): string {
  return oneWord(call, 'the id of a question: tilde asks list')
}
