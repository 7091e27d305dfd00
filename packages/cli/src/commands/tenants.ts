import { createInterface } from 'node:readline/promises'
import type { Call, Command } from '../command.ts'
import { operatorWire } from '../link/link.ts'
import { type ListedTenant, tenantPages } from '../link/tenant-pages.ts'
import { oneWord, someWords } from '../output/words.ts'
import { UsageError } from '../parse/usage-error.ts'
import { fork } from './fork.ts'

export const command: Command = {
  usage: [
    'tenants list',
    'tenants info TENANT',
    'tenants create TENANT',
    'tenants fork TENANT NEW',
    'tenants release TENANT',
    'tenants delete TENANT --yes',
  ].join('\n'),
  summary: 'lists, inspects, creates, copies, releases and deletes tenants; needs the operator key',
  flags: { yes: { type: 'boolean', help: 'delete without asking' } },
  examples: [
    'tilde tenants list',
    'tilde tenants info acme',
    'tilde tenants release acme',
    'tilde tenants delete acme --yes',
  ],
  async run(call) {
    const [action = 'list', ...words] = call.words
    const run = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined
    if (!run) throw new UsageError(`tenants has ${Object.keys(ACTIONS).join(', ')}, not ${action}.`)
    await run({ ...call, words })
  },
}

const ACTIONS: { readonly [action: string]: (call: Call) => Promise<void> } = {
  async list(call) {
    someWords(call, [])
    const { settings, out } = call
    const results: ListedTenant[] = []
    for await (const page of tenantPages(operatorWire(settings))) results.push(...page.results)
    const marks = ['quarantined', 'restoring'].filter((mark) => results.some((row) => row[mark]))
    out.list(results, ['tenant', 'bytes', ...marks], { results, total: results.length })
  },
  async info(call) {
    const slug = encodeURIComponent(oneWord(call, 'a tenant'))
    call.out.record(await operatorWire(call.settings).json(`/operator/tenants/${slug}`))
  },
  async create(call) {
    const tenant = oneWord(call, 'a tenant')
    const wire = operatorWire(call.settings)
    call.out.record(await wire.json('/operator/tenants', { method: 'POST', body: { tenant }, once: true }))
  },
  fork,
  async release(call) {
    const slug = encodeURIComponent(oneWord(call, 'a tenant'))
    const path = `/operator/tenants/${slug}/release`
    call.out.record(await operatorWire(call.settings).json(path, { method: 'POST', once: true }))
  },
  async delete(call) {
    const slug = oneWord(call, 'a tenant')
    if (!call.flags.has('yes') && !(await confirmed(slug))) {
      throw new UsageError(`Nothing was deleted. To confirm: tilde tenants delete ${slug} --yes`)
    }
    await operatorWire(call.settings).json(`/operator/tenants/${encodeURIComponent(slug)}`, { method: 'DELETE' })
    call.out.note(`Deleted ${slug}.`)
  },
}

/** A person at a terminal types the name again; programs use --yes. */
async function confirmed(slug: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await asking.question(`This deletes ${slug} and its history. Type its name to confirm: `)
  asking.close()
  return answer.trim() === slug
}
