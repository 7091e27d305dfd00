import { expect, test } from 'vitest'
import { refusal } from './respond.ts'

test.each([
  ['database or disk is full', 503],
  ['disk I/O error', 503],
  ['attempt to write a readonly database', 503],
  ['unable to open database file', 503],
  ['database disk image is malformed', 503],
  ['string or blob too big: SQLITE_TOOBIG', 413],
  ['no such column: nonsense', 500],
])('what SQLite says, "%s", is answered with %i, and is not shown', (message, status) => {
  const answer = refusal(new Error(message), 'r1', () => {})

  expect(answer.status).toBe(status)
  expect(answer.body).not.toContain(message)
})
