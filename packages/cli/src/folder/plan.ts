import { createInterface } from 'node:readline/promises'
import { DECLARED, type Declaration, isPlainObject, type JsonObject } from '@tildebase/nouns'
import type { Link } from '../link/link.ts'
import type { Output } from '../output/output.ts'

/** A step of a plan as the service answers it. */
export interface PlanStep {
  readonly action: 'create' | 'change' | 'rename' | 'convert' | 'delete'
  readonly kind: string
  readonly name: string
  readonly changes: readonly { readonly part: string; readonly from: unknown; readonly to: unknown }[]
  readonly loses: number
  readonly migrates: number | null
  readonly hint?: string
  readonly request: { readonly method: string; readonly path: string; readonly body?: JsonObject }
}

export interface Plan {
  readonly steps: readonly PlanStep[]
  readonly total: number
  readonly loses: number
  readonly tested: boolean
  readonly others: readonly { readonly kind: string; readonly name: string }[]
  readonly current: Declaration
}

/** What the service would do to make a tenant as declared. A kind that a folder declares nothing of is empty, not unknown. */
export async function planFor({ $ }: Pick<Link, '$'>, declaration: Declaration, prune = false): Promise<Plan> {
  const kinds = Object.fromEntries(DECLARED.map((kind) => [kind, {}]))
  return $.request('POST', '/schema/plan', { body: { ...kinds, ...declaration, ...(prune && { prune }) } })
}

const SIGNS = { create: '+', change: '~', rename: '~', convert: '~', delete: '-' } as const

/** A plan for people: a line per step, and below it what changes. */
export function planLines({ steps, others, tested }: Plan): string[] {
  const lines = steps.flatMap((step) => [
    headOf(step),
    ...changeLines(step),
    ...(step.hint ? [`    ${step.hint}`] : []),
  ])
  const left = others.map(({ kind, name }) => `  ${kind} ${name} is in the tenant only (--prune deletes it)`)
  if (steps.length === 0) return ['No changes.', ...left]
  return [...lines, ...left, ...(tested ? [] : ['The plan was not tried to its end: there is too much to migrate.'])]
}

function headOf({ action, kind, name, loses, migrates }: PlanStep): string {
  const migration = action === 'rename' || action === 'convert'
  const notes = [
    ...(migration ? [migrates === null ? 'changes entities' : `changes ${counted(migrates)}`] : []),
    ...(loses > 0 && action !== 'delete' ? [`${counted(loses)} ${loses === 1 ? 'loses' : 'lose'} a value`] : []),
  ]
  return `${SIGNS[action]} ${action} ${kind} ${name}${notes.length > 0 ? `  (${notes.join('; ')})` : ''}`
}

function changeLines({ action, kind, changes }: PlanStep): string[] {
  if (action === 'rename') return changes.map(({ from, to }) => `    ${from} → ${to}`)
  return changes.flatMap(({ part, from, to }) => [
    ...(from === null || from === undefined ? [] : [`    - ${part}: ${shown(from, kind)}`]),
    ...(to === null || to === undefined ? [] : [`    + ${part}: ${shown(to, kind)}`]),
  ])
}

/** A value in one line, at most so long. */
function shown(value: unknown, kind: string): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const line = kind === 'hook' ? text.replace(/\s+/g, ' ') : text
  return line.length > 100 ? `${line.slice(0, 99)}…` : line
}

/** An answer of the service, whatever it is. */
type Applied = { readonly [field: string]: unknown } | null

/** Runs the requests of a plan in order. `tell` hears of each; secrets of new webhooks are in its answer. */
export async function applyPlan(
  link: Link,
  plan: Plan,
  { webhooks = {} }: Declaration,
  tell: (step: PlanStep, answer: Applied) => void,
): Promise<void> {
  for (const step of plan.steps) {
    const { method, path, body } = step.request
    const secret = step.kind === 'webhook' && step.action === 'create' ? webhooks[step.name]?.secret : undefined
    const sent = secret === undefined ? body : { ...body, secret }
    const answer = await link.$.request(method, path, sent === undefined ? {} : { body: sent })
    tell(step, isPlainObject(answer) ? answer : null)
  }
}

/** Whether a person agrees to lose what a plan takes away. Programs use --yes. */
export async function agreed({ loses }: Plan, out: Output): Promise<boolean> {
  if (!process.stdin.isTTY) return false
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await asking.question(
    `This loses ${loses} ${loses === 1 ? 'value or thing' : 'values or things'}. Type yes to continue: `,
  )
  asking.close()
  out.note('')
  return answer.trim().toLowerCase() === 'yes'
}

export function counted(entities: number): string {
  return `${entities} ${entities === 1 ? 'entity' : 'entities'}`
}
