import { existsSync, readdirSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Declaration, declarationOf, isDeclared, Problem } from '@tildebase/nouns'

export { isFunctionText } from './function-text.ts'

const SOURCE = /^(?!.*\.(?:d|test)\.[cm]?ts$).+\.[cm]?[jt]s$/
const NO_MODULE = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'])

/** Folders that were loaded, with how often: a file that changed is read again. */
const loads = new Map<string, number>()

/** What a folder declares, and where. */
export interface Folder {
  readonly declaration: Declaration
  /** The file of each declared thing by kind and name: `types Ship`. */
  readonly files: ReadonlyMap<string, string>
}

/** All that the files of a folder declare: what they export of `noun`, `role`, `hooks`, `workflow`, `view` and `webhook`. */
export async function loadFolder(folder: string): Promise<Folder> {
  const root = resolve(folder)
  if (!existsSync(root)) {
    throw new Problem('not_found', `There is no folder ${folder}. Make one from a tenant: tilde schema pull`)
  }
  if (loads.size === 0) registerHooks({ resolve: resolveIn })
  loads.set(`${pathToFileURL(root).href}/`, (loads.get(`${pathToFileURL(root).href}/`) ?? 0) + 1)
  // A file may export again what another one declares.
  const parts = new Map<Parameters<typeof declarationOf>[0][number], string>()
  for (const file of sourcesIn(root)) {
    for (const value of Object.values(await imported(root, file)))
      if (isDeclared(value) && !parts.has(value)) parts.set(value, file)
  }
  const named = [...parts].map(
    ([part, file]) => [`${'declares' in part ? part.declares : 'types'} ${part.name}`, file] as const,
  )
  return { declaration: JSON.parse(JSON.stringify(declarationOf([...parts.keys()]))), files: new Map(named) }
}

/** The files of a folder that may declare something, in a fixed order: types first, because others import them. */
function sourcesIn(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && SOURCE.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !relative(root, file).split(/[\\/]/).includes('node_modules'))
    .sort((a, b) => Number(isType(root, b)) - Number(isType(root, a)) || (a < b ? -1 : 1))
}

function isType(root: string, file: string): boolean {
  return relative(root, file).startsWith('types')
}

async function imported(root: string, file: string): Promise<{ readonly [name: string]: unknown }> {
  try {
    return await import(pathToFileURL(file).href)
  } catch (reason) {
    throw new Problem('invalid_schema', `${relative(resolve(root, '..'), file)}${whatIsWrong(reason as Error, file)}`)
  }
}

/** What is wrong with a file, after its name: `:3: nuon is not defined`. */
function whatIsWrong({ message, stack = '' }: Error, file: string): string {
  // Node names who imports it, which is this file where it looked for our packages.
  const [, name] = /^Cannot find package '([^']+)'/.exec(message) ?? []
  if (name !== undefined) return `: The package ${name} is not installed. Run: npm install ${name}`
  const place = [file, pathToFileURL(file).href]
    .map((path) => stack.split(path)[1])
    .find((after) => after !== undefined)
  const [, line] = /^(?:\?load=\d+)?:(\d+)/.exec(place ?? '') ?? []
  return `${line === undefined ? '' : `:${line}`}: ${message}`
}

/** Finds the packages of Tildebase also for a folder that has none installed, and reads changed files again. */
function resolveIn(
  specifier: string,
  context: Parameters<NonNullable<Parameters<typeof registerHooks>[0]['resolve']>>[1],
  next: Parameters<NonNullable<Parameters<typeof registerHooks>[0]['resolve']>>[2],
): ReturnType<typeof next> {
  const found = resolvedFrom(specifier, context, next)
  const [, count = 1] = [...loads].find(([root]) => found.url.startsWith(root)) ?? []
  return count === 1 ? found : { ...found, url: `${found.url}?load=${count}` }
}

const resolvedFrom: typeof resolveIn = (specifier, context, next) => {
  try {
    return next(specifier, context)
  } catch (reason) {
    const isOurs = specifier === 'tildebase' || specifier.startsWith('@tildebase/')
    if (!isOurs || !NO_MODULE.has((reason as NodeJS.ErrnoException).code ?? '')) throw reason
    return next(specifier, { ...context, parentURL: import.meta.url })
  }
}
