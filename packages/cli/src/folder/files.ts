import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  DECLARED,
  type Declaration,
  isPlainObject,
  type Json,
  type JsonObject,
  Problem,
  sameJson,
} from '@tildebase/nouns'
import { type Folder, isFunctionText, loadFolder } from '@tildebase/server/folder'
import { UsageError } from '../parse/usage-error.ts'
import { codeText, nameText, quoted } from './code-text.ts'

type Kind = (typeof DECLARED)[number]
/** What a pull did: the files that it wrote, and those that it left because they declare other things too. */
export interface Pulled {
  readonly written: readonly string[]
  readonly left: readonly string[]
}

/** What a folder declares. A fault in it is one of the call: nothing was asked of the service. */
export async function readFolder(folder: string): Promise<Folder> {
  try {
    return await loadFolder(folder)
  } catch (reason) {
    throw reason instanceof Problem ? new UsageError(reason.message) : reason
  }
}

/** Writes files for all that a tenant has and the folder does not declare in the same way. */
export async function writeFolder(folder: string, tenant: Declaration): Promise<Pulled> {
  const before: Folder = existsSync(folder) ? await readFolder(folder) : { declaration: {}, files: new Map() }
  const changed = changedIn(tenant, before.declaration)
  const isShared = ({ kind, name }: Thing) => {
    const file = before.files.get(`${kind} ${name}`)
    return file !== undefined && [...before.files.values()].filter((other) => other === file).length > 1
  }
  const files = new Map(before.files)
  for (const { kind, name } of changed) {
    const thing = `${kind} ${name}`
    if (!files.has(thing)) files.set(thing, freeFile(join(folder, kind), name, new Set(files.values())))
  }
  const fileOf = ({ kind, name }: Thing) => files.get(`${kind} ${name}`)!
  const mine = changed.filter((thing) => !isShared(thing))
  for (const thing of mine) write(fileOf(thing), thing, true)
  // A function whose text is not the stored code, because it has types or comments around it, is written as a string.
  const after = mine.length > 0 ? changedIn(tenant, (await readFolder(folder)).declaration) : []
  for (const thing of after) if (!isShared(thing)) write(fileOf(thing), thing, false)
  return { written: mine.map(fileOf), left: [...new Set(changed.filter(isShared).map(fileOf))] }
}

interface Thing {
  readonly kind: Kind
  readonly name: string
  readonly body: JsonObject
}

/** What a folder does not declare as the tenant has it. */
function changedIn(tenant: Declaration, folder: Declaration): Thing[] {
  return DECLARED.flatMap((kind) =>
    Object.entries(tenant[kind] ?? {})
      .filter(([name, body]) => !sameJson(comparable(folder[kind]?.[name]), body as JsonObject))
      .map(([name, body]) => ({ kind, name, body: body as JsonObject })),
  )
}

/** Without what a tenant does not tell: the secret of a webhook, and that a push activates a workflow. */
function comparable(body: unknown): Json {
  if (!isPlainObject(body)) return null
  const { secret: _, active, ...rest } = body as JsonObject
  return active === false ? { ...rest, active } : rest
}

function write(file: string, { kind, name, body }: Thing, asFunctions: boolean): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, WRITERS[kind](name, body, asFunctions))
}

const WRITERS: { readonly [kind in Kind]: (name: string, body: JsonObject, asFunctions: boolean) => string } = {
  types: (name, body) => file('noun', name, codeText(body)),
  roles: (name, body) => file('role', name, codeText(body)),
  views: (name, body) => file('view', name, codeText(body)),
  webhooks: (name, body) => file('webhook', name, codeText(body)),
  hooks: (name, body, asFunctions) => {
    const steps = Object.entries(body).map(([step, code]) => `  ${nameText(step)}: ${hookText(code, asFunctions)},\n`)
    return file('hooks', name, `{\n${steps.join('')}}`)
  },
  workflows: (name, body, asFunctions) => {
    const { steps = [], ...rest } = body as { readonly steps?: readonly JsonObject[] }
    const fields = Object.entries(rest).map(
      ([field, value]) => `  ${nameText(field)}: ${codeText(value, { indent: 2 })},\n`,
    )
    const lines = steps.map((step) => `    ${stepText(step, asFunctions)},\n`)
    return file('workflow', name, `{\n${fields.join('')}  steps: [\n${lines.join('')}  ],\n}`)
  },
}

function stepText(step: JsonObject, asFunctions: boolean): string {
  const { code, ...rest } = step
  if (typeof code !== 'string') return codeText(step, { indent: 4 })
  const others = Object.entries(rest).map(([part, value]) => `, ${nameText(part)}: ${codeText(value, { indent: 4 })}`)
  return `{ code: ${hookText(code, asFunctions)}${others.join('')} }`
}

/** Stored code. The files are imported, so only functions are code in them: anything else would run here, for its author. */
function hookText(code: unknown, asFunctions: boolean): string {
  return asFunctions && typeof code === 'string' && isFunctionText(code) ? code : codeText(code)
}

function file(call: string, name: string, body: string): string {
  return `import { ${call} } from '@tildebase/nouns'\n\nexport default ${call}(${quoted(name)}, ${body})\n`
}

/** The file of a new thing, with a number if there is one of its name: it declares something else. */
function freeFile(folder: string, name: string, taken: ReadonlySet<string>): string {
  for (let count = 1; ; count++) {
    const file = join(folder, `${fileName(name)}${count === 1 ? '' : `-${count}`}.ts`)
    if (!taken.has(file) && !existsSync(file)) return file
  }
}

/** `Open deals` → `open-deals`, `FeatureFlag` → `feature-flag`. */
function fileName(name: string): string {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()
  return (
    words
      .replace(/^https?:\/\//, '')
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '') || 'unnamed'
  )
}
