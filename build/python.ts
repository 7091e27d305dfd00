// Writes the generated parts of the client for Python: npm run python:generate.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tildebase } from '../packages/client/src/index.ts'
import { localTildebase } from '../packages/server/src/node/embedded.ts'

const folder = mkdtempSync(join(tmpdir(), 'tildebase-openapi-'))
const local = await localTildebase({ tenant: 'acme' })
const document = await tildebase(local).request('GET', '/openapi.json')
writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document))
await local.close()
const script = join(import.meta.dirname, '..', 'python', 'generate.py')
const { status } = spawnSync('python3', [script, join(folder, 'openapi.json')], { stdio: 'inherit' })
rmSync(folder, { recursive: true })
process.exitCode = status ?? 1
