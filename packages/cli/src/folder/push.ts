import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Declaration } from '@tildebase/nouns'
import type { Call } from '../command.ts'
import { type Link, linkTo, operatorWire } from '../link/link.ts'
import { tenantPages } from '../link/tenant-pages.ts'
import { someWords } from '../output/words.ts'
import { UsageError } from '../parse/usage-error.ts'
import type { Settings } from '../settings.ts'
import { readFolder, writeFolder } from './files.ts'
import { agreed, applyPlan, counted, type Plan, planFor, planLines } from './plan.ts'
import { ownTypesOf, typesText } from './types-file.ts'

/** Where a project declares what its tenants have. */
export const FOLDER = 'tilde'
/** The declarations for TypeScript, in that folder. */
export const TYPES_FILE = 'tilde.d.ts'

/** Writes what a tenant has into the files of a folder. */
export async function pull(call: Call): Promise<void> {
  someWords(call, [])
  const { out } = call
  const folder = folderOf(call)
  const link = call.link()
  const { current } = await planFor(link, {})
  const { written, left } = await writeFolder(folder, current)
  const files = [...written, await writeTypes(link, folder)].map((file) => ({ file: relative('', file) }))
  out.list(files, ['file'], { written: files.map(({ file }) => file), left })
  for (const file of left) out.note(`${relative('', file)} differs, and declares other things too: change it by hand.`)
}

/** Shows what a push would do. */
export async function diff(call: Call): Promise<void> {
  someWords(call, [])
  const { declaration } = await readFolder(folderOf(call))
  const plans: { readonly tenant: string; readonly plan: Plan }[] = []
  for await (const { tenant, link } of tenantsOf(call)) {
    const plan = await planFor(link, declaration, call.flags.has('prune'))
    plans.push({ tenant, plan })
    if (!call.settings.json) show(call, tenant, plan)
  }
  if (call.settings.json) call.out.value(call.flags.has('all') ? plans : plans[0]?.plan)
}

/** Makes tenants as the folder declares. */
export async function push(call: Call): Promise<void> {
  someWords(call, [])
  const { out, settings } = call
  if (settings.dryRun) return diff(call)
  const folder = folderOf(call)
  const { declaration } = await readFolder(folder)
  const failed: string[] = []
  const done: object[] = []
  let typed = false
  for await (const { tenant, link } of tenantsOf(call)) {
    try {
      const plan = await planFor(link, declaration, call.flags.has('prune'))
      if (!settings.json) show(call, tenant, plan)
      if (plan.loses > 0 && !call.flags.has('yes') && !(await agreed(plan, out))) throw notAgreed(plan)
      const secrets = await applied(call, link, plan, declaration)
      done.push({ tenant, steps: plan.steps, ...(secrets.length > 0 && { secrets }) })
      if (!typed) await writeTypes(link, folder)
      typed = true
    } catch (reason) {
      if (!call.flags.has('all')) throw reason
      failed.push(`${tenant}: ${(reason as Error).message}`)
    }
  }
  if (settings.json) out.value(call.flags.has('all') ? done : done[0])
  if (failed.length > 0) throw new UsageError(`${failed.length} tenants were not changed. ${failed.join(' ')}`)
}

/** Runs a plan. Secrets of new webhooks are shown here, and never again. */
async function applied(call: Call, link: Link, plan: Plan, declaration: Declaration) {
  const secrets: { readonly webhook: string; readonly secret: string }[] = []
  await applyPlan(link, plan, declaration, ({ name }, answer) => {
    if (typeof answer?.secret === 'string') secrets.push({ webhook: name, secret: answer.secret })
  })
  if (call.settings.json) return secrets
  for (const { webhook, secret } of secrets) call.out.line(`The secret of ${webhook}, shown only once: ${secret}`)
  if (plan.total > 0) call.out.note(`Done: ${plan.total} ${plan.total === 1 ? 'step' : 'steps'}.`)
  return secrets
}

/** Writes the declarations of a tenant's types for TypeScript, and returns the file. */
export async function writeTypes(
  link: Pick<Link, '$'>,
  folder: string,
  file = join(folder, TYPES_FILE),
): Promise<string> {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, typesText(await ownTypesOf(link)))
  return file
}

export function folderOf({ flags }: Pick<Call, 'flags'>): string {
  return flags.text('folder') ?? FOLDER
}

function show({ out, flags }: Call, tenant: string, plan: Plan): void {
  const margin = flags.has('all') ? '  ' : ''
  if (flags.has('all')) out.line(tenant)
  for (const line of planLines(plan)) out.line(`${margin}${line}`)
}

/** The tenant of the settings, or all of the service. */
async function* tenantsOf({ flags, settings, link }: Call): AsyncGenerator<{ tenant: string; link: Link }> {
  if (!flags.has('all')) return yield { tenant: settings.tenant ?? '', link: link() }
  for await (const { results } of tenantPages(operatorWire(settings))) {
    for (const { tenant } of results) yield { tenant, link: linkTo(operatorSettings(settings, tenant)) }
  }
}

function operatorSettings(settings: Settings, tenant: string): Settings {
  return { ...settings, key: settings.operatorKey, tenant }
}

function notAgreed({ steps }: Plan): UsageError {
  const losing = steps.filter(({ loses }) => loses > 0)
  const parts = losing.map(({ kind, name, action, loses }) =>
    action === 'delete' ? `${kind} ${name} would be deleted` : `${counted(loses)} of ${name} would lose a value`,
  )
  return new UsageError(`Nothing was changed: ${parts.join('; ')}. To confirm, add --yes.`)
}
