// node test/faults/simulation/coverage.ts FOLDER: the lines of the write path that the processes of `npm run simulate` with
// NODE_V8_COVERAGE=FOLDER have run, file by file.
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = join(import.meta.dirname, '../../..')

/** What a write passes, from the gateway to the disk, and what comes of it later. */
const WRITE_PATH = [
  'packages/server/src/doors/{gateway,app,dispatch,idempotency,turns,respond}.ts',
  'packages/server/src/doors/rest/{entities,batch,import,sync}.ts',
  'packages/server/src/node/tenants/{alarms,open-tenant,open-tenants,tenants}.ts',
  'packages/server/src/node/sqlite/{sql,opened-file,disk-sync,file-handles,transactions}.ts',
  'packages/server/src/node/sqlite/checks/*.ts',
  'packages/tenant/src/engine/{engine,scheduler}.ts',
  'packages/tenant/src/facade/{writer,long-writes,kept-answers}.ts',
  'packages/tenant/src/write/*.ts',
  'packages/tenant/src/store/{entities,field-index,idempotency}.ts',
  'packages/tenant/src/store/log/log.ts',
  'packages/tenant/src/store/outgoing/outbox.ts',
  'packages/tenant/src/services/webhooks/{deliver,lane,attempts,send}.ts',
  'packages/tenant/src/services/timers/{schedule,job,fire}.ts',
  'packages/tenant/src/services/workflows/{queue,run,end}.ts',
  'packages/tenant/src/services/sync/*.ts',
]

interface Range {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}
interface Script {
  readonly url: string
  readonly functions: readonly { readonly ranges: readonly Range[] }[]
}

/** Whether each character of a file was run, by one process. Inner ranges come after outer ones. */
function runOf({ functions }: Script, length: number): Uint8Array {
  const run = new Uint8Array(length)
  const ranges = functions.flatMap(({ ranges }) => ranges)
  for (const { startOffset, endOffset, count } of ranges.toSorted(outerFirst))
    run.fill(count > 0 ? 1 : 0, startOffset, endOffset)
  return run
}

function outerFirst(a: Range, b: Range): number {
  return a.startOffset - b.startOffset || b.endOffset - a.endOffset
}

const [folder] = process.argv.slice(2)
const scripts = new Map<string, Script[]>()
for (const name of readdirSync(folder!)) {
  const { result } = JSON.parse(readFileSync(join(folder!, name), 'utf8')) as { result: Script[] }
  for (const script of result) scripts.set(script.url, [...(scripts.get(script.url) ?? []), script])
}
let [all, covered] = [0, 0]
for (const path of WRITE_PATH.flatMap((pattern) => globSync(join(ROOT, pattern))).sort()) {
  if (path.endsWith('.test.ts')) continue
  const text = readFileSync(path, 'utf8')
  const runs = (scripts.get(pathToFileURL(path).href) ?? []).map((script) => runOf(script, text.length))
  let at = 0
  let [lines, run] = [0, 0]
  const missing: number[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const start = at + (line.length - line.trimStart().length)
    at += line.length + 1
    // Lines without code: comments, types and single brackets.
    if (/^\s*(?:$|\/\/|\/?\*|[)}\]]+[,;]?$|import |export (?:type|interface)|readonly \w+\??: |} from )/.test(line))
      continue
    lines++
    if (runs.some((one) => one[start] === 1)) run++
    else missing.push(index + 1)
  }
  all += lines
  covered += run
  const name = fileURLToPath(pathToFileURL(path)).slice(ROOT.length + 1)
  console.log(`${((100 * run) / lines).toFixed(1).padStart(5)} %  ${name}  ${missing.join(' ')}`)
}
console.log(`${((100 * covered) / all).toFixed(1).padStart(5)} %  of ${all} lines`)
