/** Paths below a tenant that a sender without a key may ask for: to sign in, or to connect an agent. */
const OPEN = new Set(['session', 'invitation', 'oauth', '.well-known'])

/**
 * Whether a path may be open to requests without a key. The route decides; this is a check before the tenant is opened.
 */
export function isOpenPath(segments: readonly string[]): boolean {
  return segments[0] !== undefined && OPEN.has(segments[0])
}
