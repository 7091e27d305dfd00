import { noun } from '../notation/notation.ts'

/** A key for programs. Its secret is shown once, on creation. */
export const ApiKey = noun('ApiKey', {
  $domain: 'identity',
  // A wrong name for `filter` would make a key that may read every row.
  $strict: true,
  name: 'string!',
  keyPrefix: 'string!## (set by the service)',
  scopes: 'string',
  status: 'Active | Revoked | Expired = Active (set by the service)',
  expiresAt: 'datetime',
  lastUsedAt: 'datetime (set by the service)',
  filter: 'json',
  revoke: { event: 'revoked', from: 'Active', set: { status: 'Revoked' } },
  rollback: null,
  restore: null,
})

/** A person who signs in. */
export const User = noun('User', {
  $domain: 'identity',
  name: 'string!',
  email: 'string!##',
  avatar: 'string',
  role: 'Admin | Member | Viewer',
  status: 'Active | Suspended | Invited = Active',
  invite: { event: 'invited', set: { status: 'Invited' } },
  suspend: { event: 'suspended', from: 'Active', set: { status: 'Suspended' } },
  activate: { event: 'activated', from: ['Invited', 'Suspended'], set: { status: 'Active' } },
})
