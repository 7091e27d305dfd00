import { expect, test } from 'vitest'
import { openAcme } from './fixture.ts'

/** A tenant with three contacts in four events: the third one changes Ada, the first. */
function openContacts() {
  const { tenant, clock } = openAcme()
  const create = (name: string) => {
    clock.at += 1_000
    const data = { name, email: `${name}@example.org` }
    return tenant.act({ type: 'Contact', verb: 'create', data, actor: 't' }).entity.id
  }
  const [ada, bob] = [create('ada'), create('bob')]
  tenant.act({ type: 'Contact', verb: 'update', id: ada, data: { name: 'Ada' }, actor: 't' })
  return { tenant, names: { ada, bob, eve: create('eve') } }
}

const BROKEN = 'Its header or its values do not match the hash chain.'

test.each([
  ['an event left out', 'DELETE FROM log WHERE seq = 2', 3, 'Event 2 is missing.'],
  ['another value', `UPDATE log SET data = '{}' WHERE seq = 2`, 2, BROKEN],
  ['another actor', 'UPDATE log SET actor = 1 WHERE seq = 4', 4, BROKEN],
  ['another name', `UPDATE names SET name = 'Contacts' WHERE name = 'Contact'`, 1, BROKEN],
  ['a name less', `DELETE FROM names WHERE name = 'Contact'`, 1, BROKEN],
  ['another id', 'UPDATE entities SET id = upper(id) WHERE n = 4', 4, BROKEN],
  ['another seal', 'UPDATE log SET hash = zeroblob(32) WHERE seq = 4', 4, BROKEN],
  ['another time', 'UPDATE log SET at = at - 5000 WHERE seq = 3', 3, 'Its time is before that of the previous event.'],
  ['another version', 'UPDATE log SET version = 3 WHERE seq = 3', 3, '$ada skips a version.'],
  ['another state', 'UPDATE entities SET seq = 1 WHERE seq = 2', 1, 'The state of $bob differs from its event.'],
  ['no state', 'DELETE FROM entities WHERE seq = 4', 4, BROKEN],
  ['another past', 'UPDATE versions SET until = 4', 1, 'An interval of the past does not match its events.'],
  ['no past', 'DELETE FROM versions', 3, 'An interval of the past does not match its events.'],
  [
    'too little in an index',
    `DELETE FROM field_index WHERE value = 'bob@example.org'`,
    null,
    'The index on Contact.email misses 1 rows and has 0 unexpected rows.',
  ],
  [
    'too much in an index',
    `INSERT INTO field_index SELECT field, 'x', until, n, since FROM field_index WHERE value = 'bob@example.org'`,
    null,
    'The index on Contact.email misses 0 rows and has 1 unexpected rows.',
  ],
])('verify finds %s', (_, tampering, seq, message) => {
  const { tenant, names } = openContacts()
  const before = tenant.facade.admin.verify()
  for (const trigger of ['log_unchanged', 'log_kept']) tenant.sql.run(`DROP TRIGGER ${trigger}`)

  tenant.sql.run(tampering)

  const told = message.replace(/\$(\w+)/, (_, name: keyof typeof names) => names[name])
  expect(before).toMatchObject({ ok: true, faults: [], events: 4 })
  expect(tenant.facade.admin.verify().ok).toBe(false)
  expect(tenant.facade.admin.verify().faults).toContainEqual({ seq, message: told })
})

test('verify names the first event at which something is wrong, whatever it found first', () => {
  const { tenant } = openContacts()
  tenant.sql.run('DROP TRIGGER log_kept')
  tenant.sql.run('DELETE FROM log WHERE seq = 2')

  const { faults, firstBad } = tenant.facade.admin.verify()

  expect(faults[0]!.seq).toBe(3)
  expect(firstBad).toBe(2)
})

test('verify tells what SQLite finds wrong with the file', () => {
  const { tenant } = openContacts()
  tenant.sql.faults = () => ['row 1 missing from index log_type']

  expect(tenant.facade.admin.verify()).toMatchObject({
    ok: false,
    faults: [{ seq: null, message: 'The file: row 1 missing from index log_type' }],
  })
})
