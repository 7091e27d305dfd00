import type { Command } from './command.ts'
import { COMMANDS, commandOf } from './commands.ts'
import { FILES, fileFields } from './entities/entity-files.ts'
import { READS } from './entities/entity-reads.ts'
import type { Described } from './entities/type.ts'
import type { Link } from './link/link.ts'
import { GLOBAL } from './parse/flags.ts'

/** The line as the shell sees it: the words before the cursor, and the beginning of the current word. */
interface Line {
  readonly before: readonly string[]
  readonly typed: string
  readonly link: () => Link
}

/** The words that a line may continue with: `Con` → `Contact.`, `keys l` → `list`, `Contact.find --st` → `--stage`. */
export async function suggestions(words: readonly string[], link: () => Link): Promise<string[]> {
  const line: Line = { before: words.slice(0, -1), typed: words.at(-1) ?? '', link }
  const found = line.before.length === 0 ? await firstWords(line) : await laterWords(line)
  return found.filter((word) => word.startsWith(line.typed)).sort()
}

async function firstWords({ typed, link }: Line): Promise<string[]> {
  const types = await typesOf(link)
  const [type = '', operation] = typed.split('.')
  if (operation === undefined) return [...Object.keys(COMMANDS), ...types.map(({ name }) => `${name}.`)]
  const noun = types.find(({ name }) => name === type)
  if (noun === undefined) return []
  const files = fileFields(noun).length > 0 ? Object.keys(FILES) : []
  return [...Object.keys(READS), ...Object.keys(noun.verbs), ...files].map((name) => `${type}.${name}`)
}

async function laterWords(line: Line): Promise<string[]> {
  const [word = '', ...before] = line.before
  const command = await commandOf(word, before, line.link).then(
    ({ command }) => command,
    () => null,
  )
  if (command === null) return []
  const flags = { ...command.flags, ...GLOBAL }
  if (line.typed.startsWith('-')) return Object.keys(flags).map((name) => `--${name}`)
  const flag = /^--(.+)$/.exec(before.at(-1) ?? '')?.[1]
  if (flag !== undefined && flags[flag]?.type === 'string') return valuesOf(line, word, flag)
  return placeWords(line, command, positions(before, flags))
}

/** The known values of a flag: types, or the values of an enum. */
async function valuesOf({ link }: Line, word: string, flag: string): Promise<string[]> {
  if (flag === 'format') return ['json', 'ndjson', 'csv', ...(word === 'export' ? ['parquet'] : [])]
  const types = await typesOf(link)
  if (flag === 'type' && !word.includes('.')) return types.map(({ name }) => name)
  const field = types.find(({ name }) => name === word.split('.')[0])?.fields[flag]
  if (field?.kind === 'boolean') return ['true', 'false']
  return field && 'values' in field ? [...(field.values ?? [])] : []
}

/** The words that the command's usage allows at this place: `keys list` → list, `export TYPE` → the types. */
async function placeWords({ link }: Line, command: Command, before: readonly string[]): Promise<string[]> {
  const uses = command.usage.split('\n').map((use) => use.replaceAll(' | ', '|').split(' ').slice(1))
  const fitting = uses.filter((use) =>
    before.every((word, at) => isPlaceholder(use[at] ?? '') || use[at]!.split('|').includes(word)),
  )
  const places = new Set(fitting.flatMap((use) => use[before.length] ?? []))
  const found = [...places].filter((place) => !isPlaceholder(place)).flatMap((place) => place.split('|'))
  if (places.has('TYPE') || places.has('[TYPE]')) found.push(...(await typesOf(link)).map(({ name }) => name))
  if (places.has('[COMMAND]')) found.push(...Object.keys(COMMANDS))
  return found
}

function isPlaceholder(place: string): boolean {
  return !/^[a-z][a-z|-]*$/.test(place)
}

/** The words that are not flags or their values. */
function positions(words: readonly string[], flags: Command['flags']): string[] {
  return words.filter((word, at) => {
    const flag = /^--([^=]+)$/.exec(words[at - 1] ?? '')?.[1]
    return !word.startsWith('-') && !(flag !== undefined && flags[flag]?.type === 'string')
  })
}

/** Completion shows no errors: without a service it offers no types. */
async function typesOf(link: () => Link): Promise<readonly Described[]> {
  try {
    return (await link().$.request('GET', '/schema', { signal: AbortSignal.timeout(2_000) })).types
  } catch {
    return []
  }
}

/** The script of each shell. It completes file names if there are no other words. */
export const SCRIPTS: { readonly [shell: string]: string } = {
  bash: `_tilde() {
  mapfile -t COMPREPLY < <(tilde completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  case "\${COMPREPLY[0]-}" in *.) compopt -o nospace ;; esac
}
complete -o default -F _tilde tilde`,
  zsh: `#compdef tilde
_tilde() {
  local -a found
  found=(\${(f)"$(tilde completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( \${#found} == 0 )); then _files; return; fi
  if (( CURRENT == 2 )); then compadd -S '' -a found; else compadd -- $found; fi
}
compdef _tilde tilde`,
  fish: `function __tilde_words
  set -l typed (commandline -ct)
  set -l before (commandline -opc)
  tilde completion words -- $before[2..] "$typed" 2>/dev/null
end
complete -c tilde -n 'test (count (commandline -opc)) -eq 1' -f -a '(__tilde_words)'
complete -c tilde -n 'test (count (commandline -opc)) -gt 1' -a '(__tilde_words)'`,
}
