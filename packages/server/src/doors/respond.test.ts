import { type About, Problem } from '@tildebase/nouns'
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

test.each<[string, About, object]>([
  ['unauthorized', {}, { 'www-authenticate': 'Bearer' }],
  ['method_not_allowed', { allow: 'GET, PUT' }, { allow: 'GET, PUT' }],
  ['method_not_allowed', {}, { allow: '' }],
  ['busy', {}, { 'retry-after': '1' }],
  ['unavailable', { retryAfter: 7 }, { 'retry-after': '7' }],
  ['rate_limited', { retryAfter: 30 }, { 'retry-after': '30' }],
])('a refusal with %s and %j says in its headers what to do', (code, about, headers) => {
  expect(refusal(new Problem(code, 'No.', about), 'r1', () => {}).headers).toMatchObject(headers)
})
