import { Problem } from '@tildebase/nouns'
import { type Ask, type Connector, type Found, listIn, type PastValues, pathWith, type Question } from './connector.ts'

// biome-ignore lint/suspicious/noExplicitAny: what GitHub answers is read field by field
type Raw = any

/** Numbers between two pages that are asked for. A gap may also be discussions, which have numbers of the same row. */
const MOST_BETWEEN = 20

/** GitHub: issues with their timelines, of one repository or of all that the token reads. */
export const github: Connector = {
  name: 'github',
  apiUrl: 'https://api.github.com',
  mapping: {
    issues: {
      type: 'Issue',
      fields: { title: 'title', body: 'description', state: 'status', labels: 'labels', milestone: 'milestone' },
    },
  },
  headers: (token) => ({
    ...(token !== '' && { authorization: `Bearer ${token}` }),
    accept: 'application/vnd.github+json',
    'user-agent': 'tildebase',
    'x-github-api-version': '2022-11-28',
  }),
  checkPath: (scope) => (scope === null ? '/user' : `/repos/${repository(scope)}`),
  records,
  refersTo: () => null,
  words: (_, field) => (field === 'state' ? { open: 'Open', closed: 'Closed', reopened: 'Reopened' } : null),
}

function repository(scope: string): string {
  if (/^[\w.-]+\/[\w.-]+$/.test(scope)) return scope
  throw new Problem('invalid_parameter', 'The scope of GitHub is a repository, such as owner/name.', { field: 'scope' })
}

async function* records(ask: Ask, { since, scope }: Question): AsyncGenerator<Found> {
  for await (const repo of repositories(ask, scope)) {
    for await (const raw of issues(ask, repo, since)) {
      // A pull request is an issue, too.
      if (raw.pull_request !== undefined) continue
      yield since === null ? await withPast(ask, repo, raw) : asItIs(repo, raw)
    }
  }
}

/** The repository of a run, or all that the token reads and that have issues. */
async function* repositories(ask: Ask, scope: string | null): AsyncGenerator<string> {
  if (scope !== null) return yield repository(scope)
  const params = { sort: 'created', direction: 'asc', per_page: '100' }
  for await (const page of pages(ask, pathWith('/user/repos', params)))
    for (const raw of page) if (raw.has_issues !== false) yield raw.full_name
}

/**
 * Issues, the oldest first. Pages are counted: when an issue of an earlier page is deleted, the first one of the next page
 * moves to a page that was read. So the numbers between two pages are asked for one by one.
 */
async function* issues(ask: Ask, repo: string, since: string | null): AsyncGenerator<Raw> {
  const params = { state: 'all', sort: 'created', direction: 'asc', per_page: '100', since }
  let last: number | null = null
  for await (const page of pages(ask, pathWith(`/repos/${repo}/issues`, params))) {
    const first: number | undefined = page[0]?.number
    if (last !== null && first !== undefined) {
      for (let number = last + 1; number < Math.min(first, last + MOST_BETWEEN); number++) {
        const raw = await one(ask, `/repos/${repo}/issues/${number}`)
        if (raw !== null && (since === null || raw.updated_at >= since)) yield raw
      }
    }
    yield* page
    last = page.at(-1)?.number ?? last
  }
}

/** What a path answers; null if there is nothing any more. */
async function one(ask: Ask, path: string): Promise<Raw | null> {
  try {
    const { body } = await ask(path)
    return typeof body?.number === 'number' ? body : null
  } catch (reason) {
    const { status } = reason instanceof Problem ? reason.about : {}
    if (status === 301 || status === 404 || status === 410) return null
    throw reason
  }
}

/** The pages of a list. The header `Link` names the next one. */
async function* pages(ask: Ask, first: string): AsyncGenerator<Raw[]> {
  for (let path: string | null = first; path !== null; ) {
    const { body, headers }: Awaited<ReturnType<Ask>> = await ask(path)
    yield listIn(body)
    const next: string | undefined = /<([^>]+)>;\s*rel="next"/.exec(headers.link ?? '')?.[1]
    path = next === undefined ? null : next.replace(/^https?:\/\/[^/]+(?:\/api\/v3)?/, '')
  }
}

function asItIs(repo: string, raw: Raw): Found {
  return {
    id: `${repo}#${raw.number}`,
    createdAt: raw.created_at,
    ...(raw.updated_at && { updatedAt: raw.updated_at }),
    values: {
      title: raw.title,
      body: raw.body ?? null,
      state: raw.state,
      labels: namesOf(raw.labels),
      milestone: raw.milestone?.title ?? null,
    },
    ...(raw.user?.login && { actor: `github:${raw.user.login}` }),
    past: [],
  }
}

async function withPast(ask: Ask, repo: string, raw: Raw): Promise<Found> {
  const past: PastValues[] = []
  const labels = new Set<string>()
  let title: string | null = null
  for await (const page of pages(ask, `/repos/${repo}/issues/${raw.number}/timeline?per_page=100`)) {
    for (const event of page) {
      const change = changeOf(event, labels)
      if (change === null) continue
      if (event.event === 'renamed') title ??= event.rename.from
      const actor = event.actor?.login ? { actor: `github:${event.actor.login}` } : {}
      past.push({ at: event.created_at, ...change, ...actor })
    }
  }
  const found = asItIs(repo, raw)
  const values = { ...found.values, title: title ?? raw.title, state: 'open', labels: null, milestone: null }
  return { ...found, values, past }
}

function changeOf(event: Raw, labels: Set<string>): Pick<PastValues, 'values' | 'verb'> | null {
  switch (event.event) {
    case 'closed':
      return { verb: 'close', values: { state: 'closed' } }
    case 'reopened':
      return { verb: 'reopen', values: { state: 'reopened' } }
    case 'renamed':
      return { values: { title: event.rename.to } }
    case 'labeled':
    case 'unlabeled':
      if (event.event === 'labeled') labels.add(event.label.name)
      else labels.delete(event.label.name)
      return { values: { labels: [...labels].join(', ') } }
    case 'milestoned':
      return { values: { milestone: event.milestone.title } }
    case 'demilestoned':
      return { values: { milestone: null } }
    default:
      return null
  }
}

function namesOf(labels: readonly Raw[] | undefined): string {
  return (labels ?? []).map((label) => (typeof label === 'string' ? label : label.name)).join(', ')
}
