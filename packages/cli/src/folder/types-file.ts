import { catalogue, type JsonObject, sameJson } from '@tildebase/nouns'
import type { Link } from '../link/link.ts'
import { codeText } from './code-text.ts'

interface NamedNotation {
  readonly name: string
  readonly notation: JsonObject
}

/** The types of a tenant that are its own, or that something was added to. */
export async function ownTypesOf({ $ }: Pick<Link, '$'>): Promise<NamedNotation[]> {
  const { types } = (await $.schema()) as { readonly types: readonly NamedNotation[] }
  const builtIn: { readonly [name: string]: NamedNotation } = catalogue as never
  return types.filter(({ name, notation }) => !sameJson(builtIn[name]?.notation ?? null, notation))
}

/**
 * TypeScript declarations of types: they add to `TenantNouns`, so that clients, hooks and workflows know them without an
 * import. Fields, relations and verbs are inferred from the notation.
 */
export function typesText(types: readonly NamedNotation[]): string {
  const sorted = [...types].sort((a, b) => (a.name < b.name ? -1 : 1))
  const members = sorted.map(({ name, notation }) => `    readonly ${name}: NounOf<'${name}', ${typeText(notation)}>`)
  return `// Written by \`tilde types\`, and by every \`tilde schema push\`. Do not edit it.
import type { NounOf } from '@tildebase/nouns'

declare module '@tildebase/nouns' {
  interface TenantNouns {
${members.join('\n')}
  }
}
`
}

/** The notation as a type of literals. */
function typeText(notation: JsonObject): string {
  return codeText(notation, { indent: 4, readonly: true })
}
