/** The width and the height of an image in pixels. */
export interface ImageSize {
  readonly width: number
  readonly height: number
}

/** How many bytes at the beginning of a file are enough: a photograph has its previews before its size. */
export const HEAD_LENGTH = 262_144

/** The size of a PNG, JPEG, GIF or WebP by its first bytes; null for every other file. */
export function imageSize(head: Uint8Array): ImageSize | null {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  try {
    const size = png(view) ?? gif(view) ?? webp(view) ?? jpeg(view)
    return size && size.width > 0 && size.height > 0 ? size : null
  } catch (reason) {
    // The file ends within its header.
    if (reason instanceof RangeError) return null
    throw reason
  }
}

function png(view: DataView): ImageSize | null {
  if (view.getUint32(0) !== 0x89504e47 || view.getUint32(4) !== 0x0d0a1a0a || !hasText(view, 12, 'IHDR')) return null
  return { width: view.getUint32(16), height: view.getUint32(20) }
}

function gif(view: DataView): ImageSize | null {
  if (!hasText(view, 0, 'GIF87a') && !hasText(view, 0, 'GIF89a')) return null
  return { width: view.getUint16(6, true), height: view.getUint16(8, true) }
}

function webp(view: DataView): ImageSize | null {
  if (!hasText(view, 0, 'RIFF') || !hasText(view, 8, 'WEBP')) return null
  if (hasText(view, 12, 'VP8X')) return { width: 1 + uint24(view, 24), height: 1 + uint24(view, 27) }
  if (hasText(view, 12, 'VP8L')) {
    const bits = view.getUint32(21, true)
    return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) }
  }
  if (hasText(view, 12, 'VP8 '))
    return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
  return null
}

/** Walks the segments of a JPEG to the one with its size. */
function jpeg(view: DataView): ImageSize | null {
  if (view.getUint16(0) !== 0xffd8) return null
  for (let at = 2; ; ) {
    while (view.getUint8(at) === 0xff && view.getUint8(at + 1) === 0xff) at++
    if (view.getUint8(at) !== 0xff) return null
    const marker = view.getUint8(at + 1)
    if (isFrame(marker)) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) }
    if (marker === 0xda || marker === 0xd9) return null
    const isAlone = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)
    at += isAlone ? 2 : 2 + view.getUint16(at + 2)
  }
}

/** Start of frame: all of C0 to CF but tables (C4, CC) and a reserved one (C8). */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
}

function hasText(view: DataView, at: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (view.getUint8(at + i) !== text.charCodeAt(i)) return false
  return true
}
