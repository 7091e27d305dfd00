import { renderMermaidSVG } from 'beautiful-mermaid'
import type MarkdownIt from 'markdown-it'

const COLOURS = { bg: 'var(--vp-c-bg)', fg: 'var(--vp-c-text-1)', accent: 'var(--vp-c-brand-1)', transparent: true }

/** Mermaid diagrams become SVG when the site is built, in the colours of either theme. */
export function withDiagrams(md: MarkdownIt): void {
  const fence = md.renderer.rules.fence!
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const { info, content } = tokens[index]!
    if (info.trim() !== 'mermaid') return fence(tokens, index, options, env, self)
    // The style of all diagrams is in the theme: a page has no place for it, and it would load a typeface from elsewhere.
    const svg = renderMermaidSVG(content, COLOURS).replaceAll(/<style>[\s\S]*?<\/style>/g, '')
    return `<div class="diagram" v-pre>${svg}</div>`
  }
}
