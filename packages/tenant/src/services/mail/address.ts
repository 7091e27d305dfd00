/** The addr-spec of RFC 5322 without comments, folding and quoted local parts: what people type and servers take. */
const PLAIN = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/

/**
 * A name and its address. Without quotes the name has no character that ends an address: what follows would be another
 * recipient, or another sender.
 */
const NAMED = /^(?:"[^"\\<>]*"|[^"\\<>,;:()@[\]]*)\s*<([^<>]+)>$/

/** A line of a header has no more characters. */
const LONGEST = 998

/** The bare address of `Ada <ada@example.org>` or `ada@example.org`; null when it is not one. */
export function addressOf(text: string): string | null {
  // A line break in an address would begin another header.
  if (text.length > LONGEST || hasControl(text)) return null
  const bare = NAMED.exec(text.trim())?.[1] ?? text.trim()
  return PLAIN.test(bare) ? bare : null
}

/** Whether a text has a character that ends or breaks a header. */
export function hasControl(text: string): boolean {
  return [...text].some((letter) => letter < ' ' || letter === '\u007f')
}
