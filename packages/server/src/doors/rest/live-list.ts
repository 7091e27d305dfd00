import type { Noun } from '@tildebase/nouns'
import { Budget, type LiveSource, type Query } from '@tildebase/tenant'
import type { Call } from '../call.ts'
import { pageContent } from '../reply.ts'
import { contentFor } from './entity-content.ts'
import { lastSeen } from './live.ts'

/** What one piece of a live list may use. */
const PIECE = { ms: 1_000, rows: 100_000, bytes: 8_388_608 }

/** A list that stays current: its page now, then what enters it, changes in it and leaves it. */
export function liveList(call: Call, noun: Noun, query: Query): LiveSource {
  const show = contentFor(call, noun)
  return call.tenant.follow(call.grant).list({
    noun,
    query,
    about: JSON.stringify([call.request.query, call.context]),
    context: call.context,
    lastSeen: lastSeen(call),
    text: (entity) => show(entity).text(),
    pageText: (page) => pageContent(page, show).text(),
    budget: () => new Budget(PIECE, () => performance.now()),
  })
}
