/** Bytes as base64 text. */
export function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

/** The bytes of a base64 text, or null when it is not one in the standard form. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return null
  try {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
    // Bits that no byte uses must be zero: one value has one text.
    return toBase64(bytes) === text ? bytes : null
  } catch {
    return null
  }
}
