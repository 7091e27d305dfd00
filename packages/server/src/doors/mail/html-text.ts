/** Elements whose content is not shown. */
const HIDDEN = ['script', 'style', 'head', 'title', 'template', 'noscript']
const BLOCK = /^\/?(?:br|p|div|tr|li|ul|ol|table|h[1-6]|blockquote|section|article|pre|hr)$/
const NAMED: { readonly [name: string]: string } = { nbsp: ' ', lt: '<', gt: '>', quot: '"', amp: '&', apos: "'" }

/** What a person reads of an HTML page, about. One walk from left to right, whatever the page is made of. */
export function textOfHtml(html: string): string {
  const lower = html.toLowerCase()
  const parts: string[] = []
  let at = 0
  while (at < html.length) {
    const start = html.indexOf('<', at)
    parts.push(html.slice(at, start === -1 ? html.length : start).replace(/\s+/g, ' '))
    if (start === -1) break
    at = afterTag(lower, start, parts)
  }
  return tidy(parts.join(''))
}

/** Where the text continues after the tag that begins here. */
function afterTag(lower: string, start: number, parts: string[]): number {
  if (lower.startsWith('<!--', start)) return after(lower, '-->', start + 4)
  const name = /^<(\/?[a-z][a-z0-9]{0,30})/.exec(lower.slice(start, start + 34))?.[1]
  if (name === undefined && !/[!?/]/.test(lower[start + 1] ?? '')) {
    parts.push('<')
    return start + 1
  }
  if (name !== undefined && HIDDEN.includes(name)) {
    return after(lower, '>', Math.max(start, after(lower, `</${name}`, start) - 1))
  }
  if (name !== undefined && BLOCK.test(name)) parts.push('\n')
  return after(lower, '>', start)
}

function after(text: string, end: string, from: number): number {
  const found = text.indexOf(end, from)
  return found === -1 ? text.length : found + end.length
}

function tidy(text: string): string {
  return text
    .replace(/&(?:([a-z]{2,4})|#(\d{1,7})|#x([0-9a-f]{1,6}));/gi, characterOf)
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

function characterOf(whole: string, name?: string, decimal?: string, hex?: string): string {
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole
  const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hex!, 16)
  const isText = code >= 32 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
  return isText ? String.fromCodePoint(code) : ' '
}
