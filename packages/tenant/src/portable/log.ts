import { type Beside, besideRows, hexOf } from '../store/beside.ts'
import { readSealed, type SealedRow } from '../store/verify.ts'
import type { Tenant } from '../tenant.ts'

const PAGE = 500

/** The version of the form; another number is another form. */
export const FORM = 1

/**
 * A tenant as lines of JSON that every host can read: a head, its events after a seq with what seals them, then what
 * stands beside them (hashes of keys, secrets of webhooks, work to be done), and an end that tells it is whole.
 * One string per page, so that a reader may pause in between; what is written meanwhile comes along.
 * With `beside` as `secrets` it can be had often: the secrets of keys and webhooks are few, the rest may be much.
 */
export function* portableLog(tenant: Tenant, after: number, beside: Beside = 'all'): Generator<string> {
  yield line({ tildebase: 'log', form: FORM, tenant: tenant.slug, after })
  let position = after
  for (
    let rows = readSealed(tenant.sql, position, PAGE);
    rows.length > 0;
    rows = readSealed(tenant.sql, position, PAGE)
  ) {
    yield rows.map((row) => line(portable(row))).join('')
    position = rows.at(-1)!.seq
  }
  // In one piece: nothing can be written between the last event and what stands beside it.
  const rows = Array.from(besideRows(tenant.sql, beside), line).join('')
  yield `${rows}${line({ end: true, seq: position, hash: hexOf(tenant.head.hash) })}`
}

function portable(row: SealedRow): object {
  return { ...row, salt: row.salt && hexOf(row.salt), digest: hexOf(row.digest), hash: hexOf(row.hash) }
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`
}
