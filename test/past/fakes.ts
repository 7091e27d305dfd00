import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a fake provider answers. */
interface FakeAnswer {
  readonly status?: number
  readonly body: unknown
  readonly headers?: { readonly [name: string]: string }
}

export type Provider = (url: URL, authorization: string) => FakeAnswer | null

export interface Fake {
  readonly url: string
  /** The paths that were asked for. */
  readonly asked: string[]
  stop(): Promise<void>
}

/** What can happen to a request: a limit, one for as long as a run waits, a failure, an answer or a connection that is cut off, an answer of another form. */
export type Trouble = 'limit' | 'long limit' | 'failure' | 'cut answer' | 'cut connection' | 'no list'

/** Of every ten requests three fail. */
function someFail(turn: number): Trouble | null {
  return ({ 3: 'limit', 6: 'failure', 8: 'cut answer' } as const)[turn % 10] ?? null
}

/** A provider on this machine that also fails as providers do: `troubleOf` says how the nth request does. */
export async function startFake(
  provider: Provider,
  troubleOf: (turn: number, url: URL) => Trouble | null = someFail,
): Promise<Fake> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://fake')
    asked.push(`${url.pathname}${url.search}`)
    const trouble = troubleOf(asked.length, url)
    if (trouble === 'limit' || trouble === 'long limit')
      return void response
        .writeHead(429, { 'retry-after': trouble === 'limit' ? '1' : '120' })
        .end('{"message":"too many requests"}')
    if (trouble === 'failure') return void response.writeHead(500).end('{"message":"oops"}')
    if (trouble === 'no list') return void response.writeHead(200).end('{}')
    const answer = provider(url, request.headers.authorization ?? '')
    const { status = 200, body, headers = {} } = answer ?? { status: 404, body: { message: 'not found' } }
    const text = JSON.stringify(body)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    if (trouble === 'cut connection') {
      response.write(text.slice(0, text.length / 2))
      return void setImmediate(() => response.destroy())
    }
    response.end(trouble === 'cut answer' ? text.slice(0, text.length / 2) : text)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    stop: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

/** A record as HubSpot's list of objects shows it. */
export interface HubspotRecord {
  readonly id: string
  readonly createdAt: string
  updatedAt: string
  archived?: boolean
  archivedAt?: string
  readonly propertiesWithHistory: { [name: string]: { value: string; timestamp: string; updatedByUserId?: number }[] }
}

/**
 * HubSpot's list of CRM objects, after developers.hubspot.com (API reference, CRM objects, “Retrieve objects”): `limit`,
 * `after` (a cursor, here the id of the last record), `archived`, `properties`, `propertiesWithHistory` with the newest
 * value first, `paging.next.after`.
 */
export function hubspotFake(objects: { readonly [object: string]: HubspotRecord[] }): Provider {
  return (url, authorization) => {
    if (authorization !== 'Bearer hub-token')
      return { status: 401, body: { status: 'error', category: 'INVALID_AUTHENTICATION' } }
    const object = /^\/crm\/v3\/objects\/(\w+)$/.exec(url.pathname)?.[1]
    const records = object && objects[object]
    if (!records) return null
    const limit = Math.min(
      Number(url.searchParams.get('limit') ?? 10),
      url.searchParams.has('propertiesWithHistory') ? 50 : 100,
      3,
    )
    const archived = url.searchParams.get('archived') === 'true'
    const after = Number(url.searchParams.get('after') ?? 0)
    const all = records.filter((record) => (record.archived ?? false) === archived && Number(record.id) > after)
    const results = all.slice(0, limit).map(({ propertiesWithHistory, ...record }) => ({
      ...record,
      properties: Object.fromEntries(
        Object.entries(propertiesWithHistory).map(([name, [newest]]) => [name, newest!.value]),
      ),
      ...(url.searchParams.has('propertiesWithHistory') && { propertiesWithHistory }),
    }))
    const next = limit < all.length ? { paging: { next: { after: results.at(-1)!.id, link: '' } } } : {}
    return { body: { results, ...next } }
  }
}

/**
 * Stripe's lists, after docs.stripe.com/api/pagination, /api/events and /api/errors: newest first, `limit`,
 * `starting_after` (an id that does not exist is answered with 400 and resource_missing), `has_more`; an unknown key is
 * answered with 401.
 */
export function stripeFake(objects: { readonly [object: string]: { id: string; created: number }[] }): Provider {
  return (url, authorization) => {
    if (authorization !== 'Bearer sk_test') return { status: 401, body: { error: { type: 'invalid_request_error' } } }
    const object = /^\/v1\/(\w+)$/.exec(url.pathname)?.[1]
    if (!object) return null
    const since = Number(url.searchParams.get('created[gte]') ?? 0)
    const all = (objects[object] ?? [])
      .filter(({ created }) => created >= since)
      .toSorted((a, b) => b.created - a.created)
    const after = url.searchParams.get('starting_after')
    const from = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1
    if (after !== null && from === 0) return { status: 400, body: { error: { code: 'resource_missing' } } }
    const limit = Math.min(Number(url.searchParams.get('limit') ?? 10), 2)
    return {
      body: {
        object: 'list',
        url: url.pathname,
        data: all.slice(from, from + limit),
        has_more: from + limit < all.length,
      },
    }
  }
}

const BOAT = { full_name: 'acme/boat', has_issues: true }

/**
 * GitHub's repositories, issues and timelines, after docs.github.com (REST, “Repositories”, “Issues”, “Timeline events”,
 * “Using pagination”): `page`, `per_page`, the header `Link` with rel="next".
 */
export function githubFake(
  issues: { number: number; [field: string]: unknown }[],
  timelines: { [number: number]: object[] },
): Provider {
  return (url) => {
    const timeline = /^\/repos\/acme\/boat\/issues\/(\d+)\/timeline$/.exec(url.pathname)?.[1]
    if (url.pathname === '/repos/acme/boat') return { body: BOAT }
    if (url.pathname === '/user') return { body: { login: 'ada' } }
    const lists: { readonly [path: string]: object[] } = {
      '/user/repos': [
        { full_name: 'acme/plans', has_issues: false },
        { full_name: 'acme/wiki', has_issues: false },
        BOAT,
      ],
      '/repos/acme/boat/issues': issues,
    }
    const all = timeline ? (timelines[Number(timeline)] ?? []) : lists[url.pathname]
    const one = /^\/repos\/acme\/boat\/issues\/(\d+)$/.exec(url.pathname)?.[1]
    if (one) {
      const issue = issues.find(({ number }) => number === Number(one))
      return issue ? { body: issue } : { status: 410, body: { message: 'This issue was deleted' } }
    }
    if (!all) return null
    const page = Number(url.searchParams.get('page') ?? 1)
    const size = Math.min(Number(url.searchParams.get('per_page') ?? 30), 2)
    const more = page * size < all.length
    const next = new URL(url)
    next.searchParams.set('page', String(page + 1))
    return {
      body: all.slice((page - 1) * size, page * size),
      headers: more ? { link: `<https://api.github.com${next.pathname}${next.search}>; rel="next"` } : {},
    }
  }
}
