// Writes the pages of docs/reference from the code: npm run docs:reference.
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { areaTable, lensTable } from './areas.ts'
import { commandSections, globalFlags } from './commands.ts'
import { endpointTable, operatorEndpointTable } from './endpoints.ts'
import { errorTable, localErrorTable } from './errors.ts'
import { filled } from './markdown.ts'
import { aboutTable, kindTable, markTable, timerTable, verbTable } from './notation.ts'
import { problemCodes } from './problem-codes.ts'
import { logicalTable, metaFields, operatorTable } from './query.ts'
import { serverJson } from './server-json.ts'
import { clientSettings, settingTables } from './settings.ts'
import { skillFile } from './skill.ts'
import { ROOT } from './source.ts'
import { typePages } from './types.ts'

const FOLDER = 'docs/reference'

/** The pages of the reference as they should be, by their path in the repository. */
export async function referencePages(): Promise<{ readonly [path: string]: string }> {
  const commands = await commandSections()
  const parts = {
    areas: areaTable,
    lenses: lensTable,
    commands: () => commands,
    'global-flags': globalFlags,
    endpoints: endpointTable,
    'operator-endpoints': operatorEndpointTable,
    errors: errorTable,
    'local-errors': localErrorTable,
    about: aboutTable,
    kinds: kindTable,
    marks: markTable,
    timer: timerTable,
    verb: verbTable,
    logical: logicalTable,
    'meta-fields': metaFields,
    operators: operatorTable,
    'client-settings': clientSettings,
    settings: settingTables,
  }
  const whole = Object.entries(typePages()).map(([path, text]) => [`${FOLDER}/${path}`, text] as const)
  const written = globSync([`${FOLDER}/*.md`, 'docs/types.md'], { cwd: ROOT }).map(
    (path) => [path, filled(path, readFileSync(join(ROOT, path), 'utf8'), parts)] as const,
  )
  return Object.fromEntries([
    ...whole,
    ...written,
    ['skills/tildebase/SKILL.md', skillFile()],
    ['server.json', serverJson()],
    ['packages/client/src/types/problem-codes.ts', problemCodes()],
  ])
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(await referencePages())) {
    const file = join(ROOT, path)
    if (existsSync(file) && readFileSync(file, 'utf8') === text) continue
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    console.log(path)
  }
}
