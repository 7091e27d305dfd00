import { invalid, isPlainObject, type JsonObject } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { currentOf } from '../../store/entities.ts'
import { applyVerb } from '../../write/verb.ts'
import type { Write } from '../../write/write.ts'

/** What people get notices of. */
const NOTICE_KINDS = ['assigned', 'mentioned', 'ask', 'changeset'] as const
export type NoticeKind = (typeof NOTICE_KINDS)[number]

const TIMES = ['now', 'daily', 'never'] as const
type Time = (typeof TIMES)[number]

/** When a person gets the notices of each kind. */
export type Choices = { readonly [kind in NoticeKind]: Time }

const DEFAULTS: Choices = { assigned: 'now', mentioned: 'now', ask: 'now', changeset: 'now' }

export function choicesOf({ sql }: Engine, user: string): Choices {
  const current = currentOf(sql, 'NoticeChoices', idOf(user))
  return current ? { ...DEFAULTS, ...(JSON.parse(current.data) as Partial<Choices>) } : DEFAULTS
}

/** Changes the choices of the person who signed in. Kinds that are left out stay as they are. */
export function putChoices(write: Write, user: string, body: unknown): Choices {
  if (!isPlainObject(body)) throw invalid('Notifications', [{ field: '', message: 'must be an object' }])
  const issues = Object.entries(body).flatMap(([field, value]) =>
    !(NOTICE_KINDS as readonly string[]).includes(field)
      ? [{ field, message: `is unknown; there are ${NOTICE_KINDS.join(', ')}` }]
      : (TIMES as readonly unknown[]).includes(value)
        ? []
        : [{ field, message: `must be ${TIMES.join(', ')}` }],
  )
  if (issues.length > 0) throw invalid('Notifications', issues)
  const id = idOf(user)
  const data = body as JsonObject
  if (currentOf(write.sql, 'NoticeChoices', id)) applyVerb(write, { type: 'NoticeChoices', verb: 'update', id, data })
  else applyVerb(write, { type: 'NoticeChoices', verb: 'create', data: { $id: id, ...data }, keepId: true })
  return choicesOf(write.engine, user)
}

function idOf(user: string): string {
  return `noticeChoices_${user.slice('user_'.length)}`
}
