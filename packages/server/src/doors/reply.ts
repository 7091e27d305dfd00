import { entityView, type Page, type RunResult, type Stored } from '@tildebase/tenant'
import { entityText } from '@tildebase/tenant/internal'
import type { HttpRequest, HttpResponse } from './http.ts'

/** What an answer says, as a value or as JSON text: each is made only where it is needed. */
export interface Content {
  value(): unknown
  text(): string
}

/** What a handler answers. It becomes text once, at the door. */
export interface Reply {
  readonly status: number
  readonly headers: HttpResponse['headers']
  readonly content: Content | null
  /** A body that is sent bit by bit, in place of content. */
  readonly stream?: AsyncIterable<string | Uint8Array>
  /** About how many bytes of memory the stream holds until it has been read. */
  readonly holds?: number
}

type Headers = HttpResponse['headers']

const NONE: Headers = {}
export const JSON_ONLY: Headers = { 'content-type': 'application/json; charset=utf-8' }

export function json(status: number, value: unknown, headers: Headers = NONE): Reply {
  return { status, headers, content: { value: () => value, text: () => JSON.stringify(value) } }
}

export function empty(status: number, headers: Headers = NONE): Reply {
  return { status, headers, content: null }
}

/** An answer whose text and value are made from stored rows. */
export function contentReply(status: number, content: Content, headers: Headers = NONE): Reply {
  return { status, headers, content }
}

/** An entity, with more fields behind its own. Its stored text is passed on as it is. */
export function entityContent(
  entity: Stored,
  context: string,
  more: { readonly [field: string]: string } = {},
): Content {
  const added = Object.entries(more)
  return {
    value: () => ({ ...entityView(entity, context), ...more }),
    text: () => {
      const text = entityText(entity, context)
      return added.length === 0 ? text : `${text.slice(0, -1)},${JSON.stringify(more).slice(1)}`
    },
  }
}

/** The answer to a creation: 201, where it is, and its secret if it has one. */
export function createdReply({ entity, secret }: RunResult, context: string): Reply {
  return contentReply(201, entityContent(entity, context, secret === undefined ? {} : { secret }), {
    etag: etag(entity),
    location: `${context.slice(context.lastIndexOf('/~'))}/${entity.type}/${entity.id}`,
  })
}

/** The header of what a client should know of its request, though it was done. */
export const WARNINGS = 'x-tilde-warnings'

/** The answer to a change: the entity after it, and what the sender should know. */
export function entityReply({ entity, event, warnings }: RunResult, context: string): Reply {
  const correlation = event?.correlation ?? null
  return contentReply(200, entityContent(entity, context), {
    etag: etag(entity),
    ...(correlation !== null && { 'x-tilde-correlation': correlation }),
    ...(warnings && { [WARNINGS]: JSON.stringify(warnings) }),
  })
}

/** The tag of a version; with a digest of what an answer embeds. */
export function etag({ version }: Stored, digest = ''): string {
  return digest === '' ? `"${version}"` : `"${version}-${digest.slice(0, 32)}"`
}

/** Whether If-None-Match names the tag. A proxy that compresses makes tags weak: they name the same version. */
export function isKnown({ headers }: HttpRequest, tag: string): boolean {
  const named = headers['if-none-match']?.split(',').map((one) => one.trim().replace(/^W\//, ''))
  return named?.some((one) => one === tag || one === '*') === true
}

/**
 * The versions that If-Match names, as tags or as numbers; `*` is any. One that was never given out matches nothing. With
 * `If-None-Match: *` no version may be changed.
 */
export function ifMatch({ headers }: HttpRequest): readonly number[] | undefined {
  if (headers['if-none-match']?.trim() === '*') return []
  const header = headers['if-match']?.trim()
  if (header === undefined || header === '*') return undefined
  return header.split(',').flatMap((tag) => {
    const version = /^(?:W\/)?("?)(\d+)(?:-[\da-f]{32})?\1$/.exec(tag.trim())?.[2]
    return version === undefined ? [] : [Number(version)]
  })
}

/** Content that can be written piece by piece. */
export interface LongContent extends Content {
  pieces(): Generator<string>
}

const BEGIN = '{"results":['

/** A page in the list envelope, its entities shown by `show`. */
export function pageContent(page: Page, show: (entity: Stored) => Content): LongContent {
  const { total, hasMore, cursor } = page
  const results = page.results.map(show)
  const end = () => {
    const counted = total === undefined ? '' : `"total":${total},`
    return `],${counted}"hasMore":${hasMore},"cursor":${JSON.stringify(cursor)}}`
  }
  return {
    value: () => ({
      results: results.map((one) => one.value()),
      ...(total !== undefined && { total }),
      hasMore,
      cursor,
    }),
    text: () => {
      // Begin and end are part of the first and the last text: all of it is copied once.
      const texts = results.map((one) => one.text())
      if (texts.length === 0) return `${BEGIN}${end()}`
      texts[0] = BEGIN + texts[0]
      texts[texts.length - 1] += end()
      return texts.join(',')
    },
    *pieces() {
      yield BEGIN
      for (const [i, one] of results.entries()) yield i === 0 ? one.text() : `,${one.text()}`
      yield end()
    },
  }
}

/** A reply whose text is made now, and once. */
export function written(reply: Reply): Reply & { readonly text: string | null } {
  const { content } = reply
  const text = content === null ? null : content.text()
  return { ...reply, text, content: content && { value: () => content.value(), text: () => text! } }
}

/** The response of a reply. The one place where answers become text. */
export function render({ status, headers, content, stream, holds = 0 }: Reply, route = ''): HttpResponse {
  if (stream) return { status, headers, body: stream, route, ...(holds > 0 && { holds }) }
  if (content === null) return { status, headers, body: null, route }
  return { status, headers: headers === NONE ? JSON_ONLY : { ...JSON_ONLY, ...headers }, body: content.text(), route }
}
