/** A table of Markdown. A vertical bar in a cell is escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

/** Code in a line of text. */
export function code(text: string): string {
  return `\`${text}\``
}

/** Several pieces of code with commas between them. */
export function codes(texts: readonly string[]): string {
  return texts.map(code).join(', ')
}

/** A page with its generated parts replaced: what is between `<!-- generated: name -->` and `<!-- /generated -->`. */
export function filled(page: string, markdown: string, parts: { readonly [name: string]: () => string }): string {
  return markdown.replace(
    /(<!-- generated: ([a-z-]+) -->\n)[\s\S]*?(<!-- \/generated -->)/g,
    (_, start: string, name: string, end: string) => {
      const part = parts[name]
      if (part === undefined) throw new Error(`${page} asks for the part ${name}, which is not known.`)
      return `${start}\n${part()}\n\n${end}`
    },
  )
}
