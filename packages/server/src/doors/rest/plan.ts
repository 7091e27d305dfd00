import { isPlainObject, Problem } from '@tildebase/nouns'
import type { Steps, Stepwise, TenantWriter } from '@tildebase/tenant'
import { done } from '@tildebase/tenant/internal'
import type { Call, Route } from '../call.ts'
import { answer, jsonBody } from '../describe/description.ts'
import { ANY_OBJECT, FLAG, record, TEXT, WHOLE, whole } from '../describe/schema.ts'
import { findRoute, handleIn, within } from '../dispatch.ts'
import { currentOf, declarationIn } from '../plan/current.ts'
import { type Given, givenDeclaration } from '../plan/given.ts'
import type { Ask, Step } from '../plan/step.ts'
import { deletions, othersIn, thingSteps } from '../plan/thing-steps.ts'
import { typeSteps } from '../plan/type-steps.ts'
import { json, type Reply } from '../reply.ts'
import { streamRoute } from '../route.ts'
import { decode } from '../target.ts'

const BY_NAME = { type: 'object', additionalProperties: ANY_OBJECT }

const STEP = record(
  '',
  {
    action: { enum: ['create', 'change', 'rename', 'convert', 'delete'] },
    kind: { enum: ['type', 'role', 'hook', 'workflow', 'view', 'webhook'] },
    name: TEXT,
    changes: { type: 'array', items: whole({ part: TEXT, from: {}, to: {} }) },
    loses: { ...WHOLE, description: 'Entities with a value in a field that the type no longer has; 1 for a deletion.' },
    migrates: { type: ['integer', 'null'], description: 'Entities that the step changes; null if it was not tried.' },
    hint: TEXT,
    request: record('The ordinary request that does the step.', { method: TEXT, path: TEXT, body: ANY_OBJECT }, [
      'method',
      'path',
    ]),
  },
  ['action', 'kind', 'name', 'changes', 'loses', 'migrates', 'request'],
)

/** The plan that brings a tenant into a declared form. */
export const planRoutes: readonly Route[] = [
  streamRoute('POST /schema/plan', {
    summary: 'Plan how a tenant gets declared types, roles, hooks, workflows, views and webhooks',
    description:
      'Compares a declaration with the tenant and answers the ordinary requests that make the difference, in order. All of them are tried in a transaction that is rolled back: nothing is written. A kind that is absent is left alone.',
    needs: 'admin:platform',
    also: 'write on the types involved',
    body: jsonBody(
      record(
        '',
        {
          types: { ...BY_NAME, description: 'Notations by type; for a built-in type, what is added to it.' },
          renamed: { ...BY_NAME, description: 'By type: the earlier names of renamed fields by their new ones.' },
          roles: BY_NAME,
          hooks: { ...BY_NAME, description: 'Code by type and step.' },
          workflows: BY_NAME,
          views: BY_NAME,
          webhooks: BY_NAME,
          prune: { ...FLAG, description: 'Whether things of the given kinds that are not declared are deleted.' },
        },
        [],
      ),
      { types: { Ship: { name: 'string!', metres: 'number' } }, renamed: { Ship: { metres: 'length' } } },
      'The declaration.',
    ),
    answers: {
      200: answer(
        whole({
          steps: { type: 'array', items: STEP },
          total: WHOLE,
          loses: { ...WHOLE, description: 'The sum over all steps: ask a person if it is not 0.' },
          tested: { ...FLAG, description: 'False if trying all steps takes longer than one request may.' },
          others: { type: 'array', items: whole({ kind: TEXT, name: TEXT }) },
          current: { ...ANY_OBJECT, description: 'The declaration that makes the tenant as it is now.' },
        }),
      ),
    },
    handle: plan,
  }),
]

async function plan(call: Call): Promise<Reply> {
  const given = givenDeclaration(call.body)
  call.read.demandArea('admin', 'platform')
  await checkCode(call, given)
  const { current, others, steps } = await compared(call, given)
  const { tried, tested } = await tryAll(call, steps)
  return json(200, {
    steps: tried,
    total: tried.length,
    loses: tried.reduce((sum, { loses }) => sum + loses, 0),
    tested,
    others: given.prune ? [] : others,
    current,
  })
}

/** Code that cannot be stored is refused before anything is compared. */
async function checkCode({ tenant }: Call, { hooks = {} }: Given): Promise<void> {
  if (!tenant.runsCode && Object.keys(hooks).length > 0) {
    throw new Problem('invalid_body', 'This host runs no code, so it stores no hooks. Omit them.', { field: 'hooks' })
  }
  for (const [type, steps] of Object.entries(hooks)) {
    for (const [step, code] of Object.entries(steps)) {
      try {
        await tenant.checkHookCode(code)
      } catch (reason) {
        if (!(reason instanceof Problem)) throw reason
        throw new Problem(reason.code, `${type}.${step}: ${reason.message}`, {
          ...reason.about,
          field: `hooks.${type}.${step}`,
        })
      }
    }
  }
}

/** The tenant as it is, what of it is not declared, and the steps to the declared form. */
async function compared(call: Call, given: Given) {
  const { read } = call
  const ask: Ask = (path, query) => listed(call, path, query)
  const current = await currentOf(ask, read)
  const others = othersIn(current, given)
  const steps: readonly Step[] = [
    ...(await typeSteps({ nouns: read.nouns, own: current.types, ask, may: (noun) => read.may('read', noun) }, given)),
    ...thingSteps(current, given, read.nouns.get('View') !== undefined),
    ...(given.prune ? deletions(current, others) : []),
  ]
  return { current: declarationIn(current), others, steps }
}

/**
 * Runs all steps one after the other and takes them back, in slices with turns for others if that takes long. What is not
 * done within the time of a request is ended: then the steps are not tested. A step that fails is named by the problem.
 */
async function tryAll(
  call: Call,
  steps: readonly Step[],
): Promise<{ readonly tried: readonly Step[]; readonly tested: boolean }> {
  const { tenant, grant, writes } = call
  const budget = call.newBudget()
  let counts: number[] = []
  const tryEach = function* (write: TenantWriter): Steps<'tested'> {
    counts = []
    for (const step of steps) counts.push(yield* tryStep({ ...call, budget }, write, step))
    return 'tested'
  }
  try {
    const outcome = await tenant.writeOrBegin(
      grant,
      writes,
      budget,
      () => ({ title: 'POST /schema/plan', isDryRun: true, result: () => ({}) }),
      (write, isLong) => (isLong ? tryEach(write) : write.dryRun(() => done(tryEach(write))).result),
    )
    const tested = outcome === 'tested' || (await within(budget.limitMs, outcome.done)) !== null
    if (!tested) await tenant.tasks.cancel(grant, outcome.task)
    return { tried: steps.map((step, i) => ({ ...step, migrates: counts[i] ?? null })), tested }
  } catch (reason) {
    if (!(reason instanceof Problem)) throw reason
    if (reason.code === 'over_budget') {
      return { tried: steps.map((step, i) => ({ ...step, migrates: counts[i] ?? null })), tested: false }
    }
    const { kind, name } = steps[counts.length]!
    throw new Problem(reason.code, `${kind} ${name}: ${reason.message}`, { ...reason.about, step: counts.length })
  }
}

function* tryStep(call: Call, write: TenantWriter, { kind, name, request }: Step): Steps<number> {
  if (kind === 'hook' && request.method === 'PUT') {
    const [type = '', step = ''] = name.split('.')
    write.putHook(write.read.noun(type), step, String(request.body?.code))
    return 0
  }
  const answered = yield* write.computingOnce((inner) => asked(call, inner, request.method, request.path, request.body))
  const value = answered.content?.value()
  return isPlainObject(value) && typeof value.migrated === 'number' ? value.migrated : 0
}

/** Reads a list as the route of lists does. A plan reads many: each in a turn of its own. */
async function listed(call: Call, path: string, query: { readonly [name: string]: unknown }): Promise<unknown> {
  const { route, inner } = innerCall(call, 'GET', path, undefined, query)
  if (route.mode !== 'read') throw new Problem('invalid_operation', `${path} is not a list.`)
  const reply = await call.read.inTurns(afterATurn(() => route.handle(inner)))
  return reply.content?.value()
}

function* afterATurn<T>(work: () => T): Steps<T> {
  yield
  return work()
}

/** Asks a route inside a commit, as the operations of a batch do. */
function asked(call: Call, write: TenantWriter, method: string, path: string, body: unknown): Stepwise<Reply> {
  const { route, inner } = innerCall({ ...call, read: write.read }, method, path, body)
  if (route.mode === 'stream') throw new Problem('invalid_operation', `${method} ${path} cannot be part of a plan.`)
  return route.mode === 'write' ? route.handle(inner, write) : handleIn(route, inner, write)
}

function innerCall(
  call: Call,
  method: string,
  path: string,
  body: unknown,
  query: { readonly [name: string]: unknown } = {},
): { readonly route: Route; readonly inner: Call } {
  const segments = path.split('/').slice(1).map(decode)
  const { route, params } = findRoute(call.routes, method, segments)
  const request = { ...call.request, method, path, query: '', headers: {}, body: null }
  return { route, inner: { ...call, request, params, query: new Map(Object.entries(query)), body } }
}
