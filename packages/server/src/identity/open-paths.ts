/** Paths below a tenant that a sender without a key may ask for: to sign in, or to connect an agent. */
const OPEN = new Set(['session', 'invitation', 'oauth'])

/** Whether a path may be open. The route itself decides; this is what can be told before the tenant is asked. */
export function isOpenPath(segments: readonly string[]): boolean {
  return segments[0] !== undefined && OPEN.has(segments[0])
}
