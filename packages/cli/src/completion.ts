import { COMMANDS } from './commands.ts'
import { READS } from './entity-reads.ts'
import type { Link } from './link.ts'
import type { Described } from './type.ts'

/** The commands that begin with what was typed: `Con` → `Contact.`, `Contact.q` → `Contact.qualify`. */
export async function suggestions(typed: string, link: () => Link): Promise<string[]> {
  const names = Object.keys(COMMANDS)
  const types = await typesOf(link)
  const [type = '', operation] = typed.split('.')
  const noun = types.find(({ name }) => name === type)
  const words =
    operation === undefined
      ? [...names, ...types.map(({ name }) => `${name}.`)]
      : noun
        ? [...Object.keys(READS), ...Object.keys(noun.verbs)].map((name) => `${type}.${name}`)
        : []
  return words.filter((word) => word.startsWith(typed)).sort()
}

/** A shell that completes must not complain: without a service there are just no types. */
async function typesOf(link: () => Link): Promise<readonly Described[]> {
  try {
    return (await link().$.request('GET', '/schema', { signal: AbortSignal.timeout(2_000) })).types
  } catch {
    return []
  }
}

/** What each shell has to be told. */
export const SCRIPTS: { readonly [shell: string]: string } = {
  bash: `_tilde() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  [ "$COMP_CWORD" -eq 1 ] || return
  mapfile -t COMPREPLY < <(tilde completion words -- "$word" 2>/dev/null)
  case "\${COMPREPLY[0]-}" in *.) compopt -o nospace ;; esac
}
complete -o default -F _tilde tilde`,
  zsh: `#compdef tilde
_tilde() {
  if (( CURRENT != 2 )); then _files; return; fi
  local -a found
  found=(\${(f)"$(tilde completion words -- "$words[CURRENT]" 2>/dev/null)"})
  compadd -S '' -a found
}
compdef _tilde tilde`,
  fish: `function __tilde_words
  tilde completion words -- (commandline -ct) 2>/dev/null
end
complete -c tilde -n 'test (count (commandline -opc)) -eq 1' -f -a '(__tilde_words)'`,
}
