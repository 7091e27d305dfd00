/**
 * The types of the service itself: rights, and what happens automatically. Their events keep their own times when a
 * past is imported next to them.
 */
export const OWN_TYPES: readonly string[] = [
  'ApiKey',
  'User',
  'AccessRole',
  'Schema',
  'Hook',
  'Webhook',
  'Workflow',
  'Integration',
  'View',
  'Erasure',
]

const OWN = new Set(OWN_TYPES)

export function isOwnType(type: string): boolean {
  return OWN.has(type)
}
