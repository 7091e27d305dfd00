import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyDecoder, charsetOf, type Decoder } from './charset.ts'

/** The text of bytes that come in pieces of a size. */
function read(decoder: Decoder, bytes: Uint8Array, size: number): string {
  let text = ''
  for (let i = 0; i < bytes.length; i += size) text += decoder.decode(bytes.slice(i, i + size))
  return text + decoder.end()
}

const utf8 = (text: string) => new TextEncoder().encode(text)
const latin = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0))
describe('the encoding of a file', () => {
  test.each([1, 2, 3, 7, 1_000])('is found whatever it is, in pieces of %i bytes', (size) => {
    const text = 'name;city\r\nJosé Müller;Zürich\r\n'
    for (const [encoding, bytes] of [
      ['utf-8', utf8(text)],
      ['utf-8', utf8(`\ufeff${text}`)],
      ['windows-1252', latin(text)],
      ['utf-16le', sixteen(text, true)],
      ['utf-16be', sixteen(text, false)],
    ] as const) {
      const decoder = anyDecoder(undefined)
      expect([encoding, read(decoder, bytes, size)]).toEqual([encoding, text])
      expect(decoder.encoding).toBe(encoding)
    }
  })

  test('is UTF-8 for every text that is UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 9 }), (text, size) => {
        expect(read(anyDecoder(undefined), utf8(`x${text}`), size)).toBe(`x${text}`)
      }),
    )
  })

  test('is taken from the Content-Type where that has it', () => {
    expect(charsetOf('text/csv; header=present; charset="ISO-8859-1"')).toBe('ISO-8859-1')
    expect(read(anyDecoder('ISO-8859-1'), latin('\u00c3\u00a9'), 1)).toBe('Ã©')
    expect(() => anyDecoder('klingon')).toThrow(expect.objectContaining({ code: 'unsupported_media_type' }))
    expect(() => read(anyDecoder('utf-8'), latin('é'), 1)).toThrow(expect.objectContaining({ code: 'invalid_body' }))
  })

  test('is refused where it is neither one nor the other', () => {
    const mixed = new Uint8Array([...utf8('é\n'), ...latin('é\n')])

    for (const size of [1, 2, 100])
      expect(() => read(anyDecoder(undefined), mixed, size)).toThrow(expect.objectContaining({ code: 'invalid_body' }))
  })
})

function sixteen(text: string, little: boolean): Uint8Array {
  const bytes: number[] = []
  for (let i = 0; i <= text.length; i++) {
    const unit = i === 0 ? 0xfeff : text.charCodeAt(i - 1)
    bytes.push(...(little ? [unit & 255, unit >> 8] : [unit >> 8, unit & 255]))
  }
  return Uint8Array.from(bytes)
}
