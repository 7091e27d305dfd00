import { posix } from 'node:path'
import type MarkdownIt from 'markdown-it'

const REPOSITORY = 'https://github.com/tildebase/tildebase/blob/main'

/** Links to files of the repository outside of docs/ lead to the repository. */
export function outsideLinks(md: MarkdownIt): void {
  md.core.ruler.push('outside-links', ({ tokens, env }) => {
    const page: string = env.relativePath ?? ''
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null
      if (href !== null) token.attrSet('href', target(href, page))
    }
  })
}

function target(href: string, page: string): string {
  if (/^(?:[a-z]+:|#|\/)/.test(href)) return href
  const [path = '', anchor] = href.split('#')
  const file = posix.normalize(posix.join('docs', posix.dirname(page), path))
  const isPage = file.startsWith('docs/') && file.endsWith('.md')
  if (isPage) return href.replace(/README\.md/, 'index.md')
  return `${REPOSITORY}/${file}${anchor ? `#${anchor}` : ''}`
}
