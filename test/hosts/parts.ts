import { CONTRACT } from './contract-files.ts'

/** Tests that are run together and have one row in the matrix. */
export interface Part {
  readonly name: string
  readonly files: readonly string[]
  /** `host`: tests of the contract, run on each host. `title`: tests that start hosts and name them in "on …". Or one host. */
  readonly on: 'host' | 'title' | 'workerd'
}

/** The hosts on which the contract is run. */
const HOSTS = ['Node', 'workerd'] as const

/** Everything that a host is tested with, in the order in which it is run. */
const PARTS: readonly Part[] = [
  {
    name: 'scenarios',
    files: [
      'test/hosts/on-workers.test.ts',
      'test/hosts/on-workerd.test.ts',
      'test/hosts/contract.test.ts',
      'test/hosts/script.test.ts',
    ],
    on: 'title',
  },
  { name: 'faults', files: ['test/faults/crash.test.ts', 'test/faults/automation.test.ts'], on: 'title' },
  { name: 'objects', files: ['durable', 'miniflare', 'unsupported', 'workerd'].map(hostTest), on: 'workerd' },
  { name: 'limits', files: ['endless', 'heap', 'long-import'].map(hostTest), on: 'workerd' },
  ...contractParts(),
]

/** The parts and hosts that the words of a command choose: names of parts, files of the contract, hosts. Nothing is all. */
export function choose(words: readonly string[]): {
  readonly parts: readonly Part[]
  readonly hosts: readonly string[]
} {
  const isHost = (word: string) => HOSTS.some((host) => host === word)
  const names = words.filter((word) => !isHost(word))
  const parts = names.flatMap((word): readonly Part[] => {
    if (word.includes('/')) return [{ name: word, files: [word], on: 'host' }]
    if (word === 'contract') return contractParts()
    const part = PARTS.find(({ name }) => name === word)
    if (part === undefined) throw new Error(`There is no part ${word}: ${PARTS.map(({ name }) => name).join(', ')}`)
    return [part]
  })
  return { parts: names.length > 0 ? parts : PARTS, hosts: words.some(isHost) ? words.filter(isHost) : HOSTS }
}

/** The contract by folder; files that are in none are two parts. */
function contractParts(): Part[] {
  const groups = Map.groupBy(CONTRACT, partOf)
  return [...groups].map(([name, files]) => ({ name, files, on: 'host' as const }))
}

function partOf(file: string): string {
  const [, folder = '', name] = file.split('/')
  if (name === undefined) return folder.startsWith('openapi') ? 'openapi' : 'single'
  // Two folders have fault scripts, or tests of one host, next to files of the contract.
  return folder === 'faults' ? 'hostile' : folder === 'hosts' ? 'log' : folder
}

function hostTest(name: string): string {
  return `test/hosts/${name}.test.ts`
}
