import type { Ledger } from './ledger.ts'
import type { Requirement } from './requirements.ts'

const WIDTH = 110

/** The ledger as a short page: the counts of each area and the ids that are still open. */
export function report({ proved, open }: Ledger): string {
  const areas = [...new Set([...proved, ...open].map(({ area }) => area))]
  const rows = areas.map((area) => {
    const [done, left] = [proved, open].map((list) => list.filter((requirement) => requirement.area === area))
    const ids = wrap(left!).map((line) => `\n    ${line}`)
    return `${area.padEnd(10)}${count(done!)} proved${count(left!)} open${ids.join('')}`
  })
  return [...rows, `${'all'.padEnd(10)}${count(proved)} proved${count(open)} open`].join('\n')
}

/** The text of the file that marks these requirements as open. */
export function openFile(open: readonly Requirement[]): string {
  const lines = wrap(open).map((line) => `  ${line}\n`)
  return `/** The requirements that no test proves yet. \`npm run ledger -- --write\` keeps this list true. */
export const OPEN: readonly string[] = \`
${lines.join('')}\`
  .split(/\\s+/)
  .filter((id) => id !== '')
`
}

function count(list: readonly unknown[]): string {
  return String(list.length).padStart(5)
}

function wrap(requirements: readonly Requirement[]): readonly string[] {
  const lines: string[] = []
  for (const { id } of requirements) {
    const last = lines.at(-1)
    if (last === undefined || last.length + id.length + 1 > WIDTH) lines.push(id)
    else lines[lines.length - 1] = `${last} ${id}`
  }
  return lines
}
