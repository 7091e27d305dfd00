import { CONSOLE_GUARDS, DOCS_GUARDS } from '../host/page-guards.ts'
import type { Env } from './env.ts'

/** The console and the page of the API, from the files that were deployed with the Worker; null for other paths. */
export async function assetPage(request: Request, assets: NonNullable<Env['ASSETS']>): Promise<Response | null> {
  const isReading = request.method === 'GET' || request.method === 'HEAD'
  const file = isReading ? fileOf(request) : null
  if (file === null) return null
  const headers = new Headers()
  const etag = request.headers.get('if-none-match')
  if (etag !== null) headers.set('if-none-match', etag)
  const found = await assets.fetch(new Request(new URL(file, request.url), { method: request.method, headers }))
  if (found.status !== 200 && found.status !== 304) return null
  const page = new Response(found.body, found)
  const guards = file.startsWith('/console/') ? CONSOLE_GUARDS : DOCS_GUARDS
  for (const [name, value] of Object.entries(guards)) page.headers.set(name, value)
  // The names of assets hold a hash of what is in them; the others keep their name when they change.
  const lasting = file.startsWith('/console/assets/')
  page.headers.set('cache-control', lasting ? 'public, max-age=31536000, immutable' : 'no-cache')
  return page
}

/**
 * The file that a path means. A browser that asks for `/~{tenant}/docs` means the page, other clients a type of that
 * name.
 */
function fileOf(request: Request): string | null {
  const { pathname } = new URL(request.url)
  if (pathname === '/console' || pathname === '/console/') return '/console/index.html'
  const isDocs = /^\/~[^/]+\/docs$/.test(pathname) && request.headers.get('accept')?.includes('text/html')
  if (pathname === '/docs' || isDocs) return '/docs/index.html'
  return /^\/(?:console|docs)\/./.test(pathname) ? pathname : null
}
