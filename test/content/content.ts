import { createHash } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, type TestApp } from '../host.ts'

/** The hash of a content, worked out next to the service. */
export function hashOf(bytes: Uint8Array | string): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

/** Sends bytes as they are. */
export async function send(
  app: TestApp,
  method: string,
  path: string,
  body: Uint8Array | string | FormData | null,
  headers: Record<string, string> = {},
  key: string | null = ROOT,
) {
  const form = body instanceof FormData ? new Response(body) : null
  const sent = form ? new Uint8Array(await form.arrayBuffer()) : body
  const answer = await app.fetch(path, {
    method,
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(form && { 'content-type': form.headers.get('content-type')! }),
      ...headers,
    },
    ...(sent !== null && { body: sent as BodyInit }),
  })
  const bytes = new Uint8Array(await answer.arrayBuffer())
  const text = new TextDecoder().decode(bytes)
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true
  return { status: answer.status, headers: answer.headers, bytes, text, body: isJson && text ? JSON.parse(text) : null }
}

/** The files with content in the folder of a tenant: complete ones, and those that are not. */
export function blobsOf(data: string, tenant: string): { readonly whole: string[]; readonly parts: string[] } {
  const folder = join(data, 'files', tenant.slice(0, 2), tenant)
  const names = statSync(folder, { throwIfNoEntry: false }) ? readdirSync(folder) : []
  return {
    whole: names.filter((name) => !name.endsWith('.part')),
    parts: names.filter((name) => name.endsWith('.part')),
  }
}

/** Tries until it is true. */
export async function until(isTrue: () => boolean | Promise<boolean>, ms = 10_000): Promise<void> {
  for (const end = Date.now() + ms; !(await isTrue()); ) {
    if (Date.now() > end) throw new Error('This did not become true in time.')
    await new Promise((done) => setTimeout(done, 20))
  }
}
