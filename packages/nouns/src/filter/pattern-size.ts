/** A part of a pattern: literal text, a character by its number or its properties, any other escape, or a class. */
const UNIT = /\\Q([\s\S]*?)(?:\\E|$)|\\[xpP]\{[^}]*\}|\\[\s\S]|\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]/y
const REPEATED = /\{(\d+)(?:,(\d*))?\}/y

/**
 * How many characters a pattern has at least when its repetitions are written out: `(ab){3}` has six. The time to prepare
 * and to search grows with it.
 */
export function patternSize(pattern: string): number {
  const groups = [0]
  let last = 0
  for (let at = 0; at < pattern.length; ) {
    const [repeated, least, most] = found(REPEATED, pattern, at)
    const [unit, literal] = found(UNIT, pattern, at)
    const closes = pattern[at] === ')' && groups.length > 1
    if (pattern[at] === '(') groups.push(0)
    if (pattern[at] === '(') last = 0
    else if (closes) last = groups.pop()!
    else if (repeated !== undefined) last *= Math.max(Number(least), Number(most ?? 0), 1) - 1
    else last = literal?.length ?? 1
    groups[groups.length - 1]! += last
    at += repeated?.length ?? unit?.length ?? 1
  }
  return groups.reduce((sum, size) => sum + size, 0)
}

function found(part: RegExp, pattern: string, at: number): readonly (string | undefined)[] {
  part.lastIndex = at
  return part.exec(pattern) ?? []
}
