/** A value on one line. Control characters are escaped, so that stored data cannot control a terminal. */
export function cell(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get through.
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (letter) => {
    const known = { '\n': '\\n', '\t': '\\t', '\r': '\\r' }[letter]
    return known ?? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
