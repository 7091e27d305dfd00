/** A link ends before the next one begins: a text with many beginnings is read once. */
const LINK = /\[([^[\]]+)\]\((https?:\/\/[^\s[)]+|mailto:[^\s[)]+)\)/g

/** The HTML of a message in Markdown: paragraphs, headings, lists, emphasis, code and links. All else is text. */
export function htmlOf(markdown: string): string {
  const blocks = markdown.replaceAll('\r\n', '\n').split(/\n{2,}/)
  return blocks.map((block) => blockHtml(block.trim())).join('\n')
}

function blockHtml(block: string): string {
  const lines = block.split('\n')
  const heading = /^(#{1,3}) (.+)$/.exec(block)
  if (heading && lines.length === 1) {
    const level = heading[1]!.length
    return `<h${level}>${inline(heading[2]!)}</h${level}>`
  }
  const list = listOf(lines)
  if (list !== null) return list
  return block === '' ? '' : `<p>${lines.map(inline).join('<br>\n')}</p>`
}

/** The block as a list, if each of its lines is an item. */
function listOf(lines: readonly string[]): string | null {
  for (const [tag, item] of [
    ['ul', /^[-*] (.+)$/],
    ['ol', /^\d+\. (.+)$/],
  ] as const) {
    const items = lines.map((line) => item.exec(line)?.[1])
    if (items.every((text) => text !== undefined)) {
      return `<${tag}>\n${items.map((text) => `<li>${inline(text!)}</li>`).join('\n')}\n</${tag}>`
    }
  }
  return null
}

function inline(text: string): string {
  return escaped(text)
    .replace(LINK, (_, label: string, url: string) => `<a href="${url}">${label}</a>`)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replace(/(?<![*\w])\*([^*\s][^*]*)\*(?![*\w])/g, '<em>$1</em>')
}

/** A text as part of HTML. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
