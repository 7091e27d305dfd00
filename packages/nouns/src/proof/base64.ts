/** Bytes as base64 text. */
export function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

/** The bytes of a base64 string, or null if it is not in standard form. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return null
  try {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
    // Unused bits must be zero, so that each value has exactly one encoding.
    return toBase64(bytes) === text ? bytes : null
  } catch {
    return null
  }
}
