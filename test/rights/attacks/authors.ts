import type { Grant } from '@tildebase/tenant'

/** What an attack is after. */
export type Goal = 'read Contact' | 'read Secret' | 'read Mail' | 'write Contact' | 'write ApiKey' | 'write User'

/** A caller who stores things: scopes as text, and row filters. */
export interface Author {
  readonly name: string
  readonly scopes: string
  readonly rows: Grant['rows']
}

const author = (scopes: string, rows: Grant['rows'] = {}): Author => ({
  name: Object.keys(rows).length > 0 ? `${scopes} within ${Object.keys(rows).join()}` : scopes,
  scopes,
  rows,
})

export const AUTHORS: readonly Author[] = [
  author('admin:all'),
  author('admin:platform'),
  author('admin:platform,write:Deal'),
  author('admin:platform,write:Deal,read:Contact'),
  author('admin:platform,admin:identity'),
  author('write:all'),
  author('write:platform,write:Deal'),
  author('admin:crm'),
  author('read:all'),
  author('admin:identity,read:Deal'),
  author('propose:all'),
  author('admin:all', { Contact: { title: 'mine' } }),
  author('admin:all', { Deal: { name: 'mine' } }),
  author('admin:platform,write:all', { Contact: { title: 'mine' }, Deal: { name: { $exists: true } } }),
]

export function grantOf({ scopes, rows }: Author, actor = 'apiKey_attacker'): Grant {
  const list = scopes.split(',').map((scope) => {
    const [action, area] = scope.split(':')
    return { action, area } as Grant['scopes'][number]
  })
  return { actor, scopes: list, rows }
}

/** The model: what an author may reach. Written from the contract, and not with the engine's functions. */
export function mayReach({ scopes, rows }: Author, goal: Goal): boolean {
  const order = ['read', 'propose', 'write', 'admin']
  const holds = (action: string, areas: readonly string[]) =>
    scopes.split(',').some((scope) => {
      const [held = '', area = ''] = scope.split(':')
      return order.indexOf(held) >= order.indexOf(action) && ['all', ...areas].includes(area)
    })
  const isWhole = Object.keys(rows).length === 0
  switch (goal) {
    case 'read Contact':
      return holds('read', ['crm', 'Contact']) && !('Contact' in rows)
    case 'write Contact':
      return holds('write', ['crm', 'Contact']) && !('Contact' in rows)
    case 'read Secret':
      return holds('admin', ['platform'])
    default:
      // A key or a role with every right can be given only by a caller who has every right. Letters have links that open the
      // accounts of people with every right.
      return isWhole && holds('admin', [])
  }
}
