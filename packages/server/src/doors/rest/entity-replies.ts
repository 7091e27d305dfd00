import type { RunResult, Stored } from '@tildebase/tenant'
import type { Call } from '../call.ts'
import { contentReply, entityContent, type Reply } from '../reply.ts'
import { WARNINGS } from './unknown-fields.ts'

/** The answer to a creation: 201, where it is, and its secret if it has one. */
export function createdReply({ entity, secret }: RunResult, context: string): Reply {
  return contentReply(201, entityContent(entity, context, secret === undefined ? {} : { secret }), {
    etag: etag(entity),
    location: `${context.slice(context.lastIndexOf('/~'))}/${entity.type}/${entity.id}`,
  })
}

/** The answer to a change: the entity after it, and what the sender should know. */
export function entityReply({ entity, event, warnings }: RunResult, context: string): Reply {
  const correlation = event?.correlation ?? null
  return contentReply(200, entityContent(entity, context), {
    etag: etag(entity),
    ...(correlation !== null && { 'x-tilde-correlation': correlation }),
    ...(warnings && { [WARNINGS]: JSON.stringify(warnings) }),
  })
}

/** The tag of a version. */
export function etag(entity: Stored): string {
  return `"${entity.version}"`
}

/** Whether If-None-Match names the tag. A proxy that compresses makes tags weak: they name the same version. */
export function isKnown({ request }: Call, tag: string): boolean {
  const named = request.headers['if-none-match']?.split(',').map((one) => one.trim().replace(/^W\//, ''))
  return named?.some((one) => one === tag || one === '*') === true
}

/** The versions that If-Match names, as tags or as numbers; `*` is any. One that was never given out matches nothing. */
export function ifMatch(call: Call): readonly number[] | undefined {
  const header = call.request.headers['if-match']?.trim()
  if (header === undefined || header === '*') return undefined
  return header.split(',').flatMap((tag) => {
    const version = /^(?:W\/)?("?)(\d+)\1$/.exec(tag.trim())?.[2]
    return version === undefined ? [] : [Number(version)]
  })
}
