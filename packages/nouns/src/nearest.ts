/** The candidates most similar to `word`, best first, at most `limit`: for "did you mean". */
export function nearest(word: string, candidates: Iterable<string>, limit = 3): string[] {
  const wanted = word.slice(0, 64).toLowerCase()
  const allowed = Math.max(1, Math.min(3, Math.floor(wanted.length / 3)))
  const scored: { candidate: string; score: number }[] = []
  for (const candidate of candidates) {
    const score = likeness(wanted, candidate.toLowerCase(), allowed)
    if (score <= allowed) scored.push({ candidate, score })
  }
  return scored
    .sort((a, b) => a.score - b.score)
    .slice(0, limit)
    .map(({ candidate }) => candidate)
}

/** `; did you mean Lead?`, or an empty string if no candidate is similar. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const [best] = nearest(word, candidates, 1)
  return best === undefined ? '' : `; did you mean ${best}?`
}

function likeness(wanted: string, candidate: string, allowed: number): number {
  if (wanted === candidate) return 0
  if (wanted.length >= 3 && (candidate.startsWith(wanted) || wanted.startsWith(candidate))) return 0.5
  if (Math.abs(wanted.length - candidate.length) > allowed) return Number.POSITIVE_INFINITY
  return editDistance(wanted, candidate)
}

/** The edit distance: characters added, removed, changed or swapped. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      let least = Math.min(previous[column]! + 1, current[column - 1]! + 1, previous[column - 1]! + (same ? 0 : 1))
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped) least = Math.min(least, before[column - 2]! + 1)
      current.push(least)
    }
    before = previous
    previous = current
  }
  return previous[b.length]!
}
