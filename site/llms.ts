import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** `llms.txt`: the pages with a sentence about each. */
export function llmsIndex(folder: string, pages: readonly string[]): string {
  const lines = ordered(pages).map((page) => {
    const text = read(folder, page)
    return `- [${titleOf(text)}](/${page.replace(/\.md$/, '.html')}): ${firstSentence(text)}`
  })
  return `# Tildebase\n\n> ${SUMMARY}\n\n## Pages\n\n${lines.join('\n')}\n`
}

/** `llms-full.txt`: the pages one after another. */
export function llmsFull(folder: string, pages: readonly string[]): string {
  return ordered(pages)
    .map((page) => `<!-- ${page} -->\n\n${read(folder, page)}`)
    .join('\n')
}

const SUMMARY = 'A self-hosted, multi-tenant store of typed business entities that remembers everything.'

/** What is for users first, the specification last. */
function ordered(pages: readonly string[]): string[] {
  const rank = (page: string) =>
    ['', 'guides', 'reference', 'design', 'decisions', 'notes', 'spec'].indexOf(folderOf(page))
  return pages.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
}

function folderOf(page: string): string {
  return page.includes('/') ? page.slice(0, page.indexOf('/')) : ''
}

function read(folder: string, page: string): string {
  return readFileSync(join(folder, page), 'utf8').replaceAll(/<!--[\s\S]*?-->\n*/g, '')
}

function titleOf(text: string): string {
  return /^# (.+)$/m.exec(text)?.[1] ?? 'Untitled'
}

function firstSentence(text: string): string {
  const paragraph = text.split(/\n\n+/).find((part) => /^[A-Z`]/.test(part)) ?? ''
  return (/^[\s\S]*?[.:](?=\s|$)/.exec(paragraph)?.[0] ?? paragraph).replaceAll(/\s+/g, ' ')
}
