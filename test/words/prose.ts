/** A piece of text that people read, with the line on which it begins. */
export type Prose = { readonly line: number; readonly kind: 'comment' | 'message' | 'page'; readonly text: string }

/** The prose of a file: the text of a page, the comments of a program and its strings of three words or more. */
export function readProse(path: string, text: string): readonly Prose[] {
  if (/\.md$/.test(path)) return readPage(text)
  if (/\.(css)$/.test(path)) return comments(text, /\/\*[\s\S]*?\*\//g)
  if (/\.(ya?ml|service|conf|py)$|(^|\/)(Dockerfile|Caddyfile|run)$/.test(path))
    return comments(text, /(?<=^|\s)#.*$/gm)
  return readProgram(text, {
    strings: !/(^|\/)(test|bench)\/|\.test\.tsx?$/.test(path),
    markup: /\.(tsx|html)$/.test(path),
  })
}

/** Markdown without its code, addresses of links and comments. */
function readPage(text: string): readonly Prose[] {
  const blank = (found: string) => found.replaceAll(/[^\n]/g, ' ')
  const prose = text
    .replaceAll(/^```[\s\S]*?^```$/gm, blank)
    .replaceAll(/`[^`]+`/g, (code) => (code.includes('\n') ? blank(code) : '`'.padEnd(code.length, '`')))
    .replaceAll(/\]\([^)]*\)/g, blank)
    .replaceAll(/<!--[\s\S]*?-->/g, blank)
  return prose.split('\n').map((line, n) => ({ line: n + 1, kind: 'page', text: line }))
}

// A comment, a string, a template or a regular expression. What begins with a slash after a value is a division.
const TOKENS = new RegExp(
  [
    /(?<comment>\/\/.*|\/\*[\s\S]*?\*\/)/,
    /(?<quoted>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")/,
    /(?<template>`(?:[^`\\]|\\.)*`)/,
    /(?<=(?:^|[(,=:[!&|?{};>]|return|=>)\s*)\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[dgimsuvy]*/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
)

/** The title of a test is what its functions take first, or second after the name of a requirement. */
const TITLE = /\b(?:test|describe|it|verifies)(?:\.\w+)*(?:\([^()]*\))?\(\s*(?:(?:'[\w.]+'|\[[^\]]*\]),\s*)?$/
const AFTER_TABLE = /^\s*\]\)\(\s*$/m

function readProgram(text: string, { strings, markup }: { strings: boolean; markup: boolean }): readonly Prose[] {
  const found: Prose[] = []
  const add = (index: number, kind: Prose['kind'], prose: string) =>
    found.push({ line: lineAt(text, index), kind, text: prose.replaceAll(/`[^`]*`/g, '``') })
  for (const { index, groups } of text.matchAll(TOKENS)) {
    const { comment, quoted, template } = groups!
    const before = text.slice(Math.max(0, index - 300), index)
    const string = quoted ?? template
    if (comment !== undefined) add(index, 'comment', comment)
    else if (
      string !== undefined &&
      isSentence(string) &&
      (strings || TITLE.test(before) || AFTER_TABLE.test(before))
    ) {
      add(index, 'message', string.slice(1, -1).replaceAll(/\$\{[^}]*\}/g, '``'))
    }
  }
  if (markup) {
    for (const { index, 0: words } of text.matchAll(/(?<=>)[^<>{}=;]*[a-z]\s[^<>{}=;]*(?=[<{])/g))
      add(index, 'message', words)
  }
  return found
}

/** Three words in a row. SQL and code are not sentences. */
function isSentence(text: string): boolean {
  return (
    /[A-Za-z’']{2,}[,:;.]? [\w’']+[,:;.]? \w/.test(text) &&
    !/\b(SELECT|INSERT|UPDATE|DELETE|CREATE|FROM|WHERE|ALTER)\b|\bconst |=>/.test(text)
  )
}

function comments(text: string, pattern: RegExp): readonly Prose[] {
  return [...text.matchAll(pattern)].map(({ index, 0: comment }) => ({
    line: lineAt(text, index),
    kind: 'comment',
    text: comment,
  }))
}

function lineAt(text: string, index: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < index; at = text.indexOf('\n', at + 1)) line++
  return line
}
