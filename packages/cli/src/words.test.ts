import { expect, test } from 'vitest'
import { COMMANDS, loadCommand } from './commands.ts'
import { READS } from './entities/entity-reads.ts'
import { readFlags } from './parse/flags.ts'
import { UsageError } from './parse/usage-error.ts'

const CONTACT = { name: 'Contact', domain: 'crm', path: 'contacts', fields: {}, verbs: {}, notation: {} }

/** Each command with as many words as it takes. */
const COMPLETE = [
  'serve',
  'dev',
  'fetch Contact x',
  'do --code 1',
  ...['list', 'show x', 'diff x', 'effect x', 'approve x', 'reject x', 'comment x', 'rebase x', 'from x'].map(
    (action) => `changesets ${action}`,
  ),
  ...['list', 'show x', 'approve x', 'reject x'].map((action) => `asks ${action}`),
  'events',
  ...[
    'list',
    'Contact',
    'pull',
    'diff',
    'push',
    'put Ship x.json',
    'rename Ship a b',
    'retype Ship a b',
    'delete Ship',
  ].map((action) => `schema ${action}`),
  'types',
  ...['list', 'create x', 'revoke x', 'delete x'].map((action) => `keys ${action}`),
  ...['list', 'create x', 'delete x', 'deliveries x', 'redeliver x', 'rotate x', 'test x', 'listen'].map(
    (action) => `webhooks ${action}`,
  ),
  ...['list', 'runs x', 'run x y', 'retry x y', 'cancel x y', 'test x'].map((action) => `workflows ${action}`),
  'import x.csv --type Contact',
  'export Contact',
  'sync x.json',
  'mcp',
  ...['list', 'info x', 'create x', 'fork x y', 'release x', 'delete x'].map((action) => `tenants ${action}`),
  ...['status x', 'drain x', 'resume x', 'move x y'].map((action) => `cluster ${action}`),
  'fork x y',
  'backup x',
  'backup --all --to x',
  'restore x.db --as x',
  'repair x --from x',
  'verify x',
  'verify --from x',
  'verify --against x',
  'prove x',
  'login x',
  'logout x',
  'init x',
  'doctor',
  'completion bash',
  'version',
]

test.each(COMPLETE)('tilde %s: an argument too many is refused before anything is done', async (line) => {
  const [name = '', ...words] = line.split(' ')

  await expect(run(await loadCommand(name), [...words, 'surplus'])).rejects.toThrow(UsageError)
})

test.each(Object.entries(READS))('tilde Contact.%s: the same', async (_, read) => {
  const command = read(CONTACT)
  const words = command.usage.includes(' ID') ? ['x'] : []

  await expect(run(command, [...words, 'stage=Lead'])).rejects.toThrow(
    'Unexpected argument: stage=Lead. Did you mean --stage=Lead?',
  )
})

test('every command is tried, except those that take any number of words', () => {
  const tried = new Set(COMPLETE.map((line) => line.split(' ')[0]))

  expect(Object.keys(COMMANDS).filter((name) => !tried.has(name))).toEqual(['search', 'history', 'help'])
})

function run(command: Awaited<ReturnType<typeof loadCommand>>, args: readonly string[]): Promise<void> {
  const { words, given: flags } = readFlags(command, args)
  const settings = { url: 'http://localhost:1', key: 'tb_x', operatorKey: 'tb_x', profile: 'none', json: false }
  const asked: object = new Proxy(() => {}, { get: () => asked, apply: () => expect.fail('The service was asked.') })
  const link = () => ({ $: asked })
  return command.run({ words, flags, settings, out: {}, link } as never)
}
