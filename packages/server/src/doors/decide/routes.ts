import { Problem } from '@tildebase/nouns'
import type { Grant } from '@tildebase/tenant'
import { type Call, type Route, textParam } from '../call.ts'
import { answer, formBody, HTML } from '../describe/description.ts'
import { query } from '../describe/parameters.ts'
import { ref } from '../describe/schema.ts'
import { findRoute, runRoute } from '../dispatch.ts'
import { demandSameOrigin } from '../identity/same-origin.ts'
import { pageReply, signedInPerson, toSignIn } from '../oauth/authorize.ts'
import { messagePage } from '../oauth/consent-page.ts'
import { formOf } from '../oauth/form.ts'
import { languageOf } from '../pages/language.ts'
import type { Reply } from '../reply.ts'
import { problemOf } from '../respond.ts'
import { streamRoute } from '../route.ts'
import { decisionPage } from './page.ts'

const SIGNATURE = query('signature', 'The signature of the address. It ends with the changeset.', 'q83vEjRWeJCrze8')
const INVALID = answer(ref('Error'), {
  description: 'A page: the address was not made here for this changeset, or has ended.',
  content: HTML,
})

/** The page on which a person decides about a changeset, whichever agent proposed it. */
export const decideRoutes: readonly Route[] = [
  streamRoute('GET /decide/:id', {
    summary: 'Show a changeset to the person who decides about it',
    needs: 'no key',
    also: 'a session',
    params: [SIGNATURE],
    answers: { 200: { content: HTML }, 302: { description: 'The person signs in first.' }, 400: INVALID },
    handle: (call) => guarded(call, () => show(call)),
  }),
  streamRoute('POST /decide/:id', {
    summary: 'Approve or reject a changeset on its page',
    needs: 'no key',
    also: 'a session',
    repeats: true,
    rawBody: true,
    params: [SIGNATURE],
    body: formBody({ csrf: '9f2c…', version: '1', decision: 'approve' }),
    answers: { 200: { content: HTML }, 400: INVALID },
    handle: (call) => guarded(call, () => decide(call)),
  }),
]

/** The address of the page for a changeset. It contains no credential. */
export function decisionUrl(call: Pick<Call, 'context'>, id: string, signature: string): string {
  return `${call.context}/decide/${id}?signature=${signature}`
}

async function show(call: Call): Promise<Reply> {
  if (signedInPerson(call) === null) return toSignIn(call)
  await demandSignature(call)
  return review(call)
}

/** Runs the decision with the rights of the person, on the version that they saw. */
async function decide(call: Call): Promise<Reply> {
  const person = signedInPerson(call)
  if (person === null) throw new Problem('forbidden', 'Sign in and open the page again: only a person decides here.')
  demandSameOrigin(call)
  const fields = formOf(call)
  const { tenant, sender } = call
  const secret = sender.kind === 'session' ? sender.secret : ''
  if (!tenant.identity.isCsrf(secret, fields.get('csrf') ?? ''))
    throw new Problem('forbidden', 'This page is of another session. Open it again.')
  await demandSignature(call)
  const decision = fields.get('decision')
  if (decision !== 'approve' && decision !== 'reject')
    throw new Problem('invalid_parameter', 'decision is approve or reject.', { field: 'decision' })
  const reason = fields.get('reason')?.trim()
  const body = decision === 'reject' && reason ? { reason } : {}
  try {
    await run(call, decision, body, fields.get('version') ?? '')
  } catch (failure) {
    const problem = problemOf(failure)
    if (problem.code === 'internal') throw failure
    return review(call, problem.message)
  }
  return review(call)
}

/** Does what `POST /Changeset/:id/approve` and `reject` do: one meaning for both. */
function run(call: Call, decision: string, body: object, version: string): Reply | Promise<Reply> {
  const { route, params } = findRoute(call.routes, 'POST', ['Changeset', call.params.id!, decision])
  const { 'idempotency-key': _, ...headers } = call.request.headers
  const request = { ...call.request, query: '', body: null, headers: { ...headers, 'if-match': `"${version}"` } }
  return runRoute(route, { ...call, params, query: new Map(), body, request })
}

async function demandSignature({ tenant, grant, writes, newBudget, params, query: given }: Call): Promise<void> {
  const signature = textParam(given, 'signature') ?? ''
  const isValid = await tenant.write(grant, writes, newBudget(), (write) => write.isDecision(params.id!, signature))
  if (!isValid)
    throw new Problem('invalid_parameter', 'This address is not valid, or has ended. Ask the agent for a new one.')
}

/** The page as this person may see it. */
async function review(call: Call, error?: string): Promise<Reply> {
  const { tenant, grant, writes, newBudget, params, sender } = call
  const id = params.id!
  const seen = await tenant.write(grant as Grant, writes, newBudget(), (write) => write.review(id))
  const csrf = sender.kind === 'session' ? tenant.identity.csrf(sender.secret) : ''
  const path = `/~${tenant.slug}/decide/${id}?signature=${encodeURIComponent(textParam(call.query, 'signature') ?? '')}`
  return pageReply(
    decisionPage({ language: languageOf(call.request), slug: tenant.slug, review: seen, path, csrf, error }),
  )
}

/** Problems are shown to the person, on a page that nothing can frame. */
async function guarded(call: Call, work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work()
  } catch (reason) {
    const { code, message } = problemOf(reason)
    if (code === 'internal') throw reason
    const status = STATUS[code] ?? 400
    return pageReply(messagePage(call, 'This cannot be decided here', message, status))
  }
}

const STATUS: { readonly [code: string]: number } = {
  forbidden: 403,
  not_found: 404,
  unsupported_media_type: 415,
}
