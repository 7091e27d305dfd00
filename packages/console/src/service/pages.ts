import type { Page } from './schema.ts'
import { request } from './service.ts'

/** The most rows of one request. */
export const PAGE = 100

/** The pages of a type under a query, one after the other: each entity once, however many there are. */
export async function* pagesOf(type: string, query: object, signal?: AbortSignal): AsyncGenerator<Page['results']> {
  let cursor: string | null = null
  do {
    const page: Page = await request<Page>('GET', `/${type}`, {
      query: { ...query, limit: PAGE, total: false, cursor: cursor ?? undefined },
      ...(signal && { signal }),
    })
    yield page.results
    cursor = page.hasMore ? page.cursor : null
  } while (cursor !== null)
}

/** All rows of a type under a query. */
export async function allOf(type: string, query: object, signal?: AbortSignal): Promise<Page['results']> {
  const pages: Page['results'][] = []
  for await (const page of pagesOf(type, query, signal)) pages.push(page)
  return pages.flat()
}
