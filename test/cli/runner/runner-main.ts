// A process that runs commands one after the other, each as if the process had been started for it.
import { Readable, Writable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { Asked, Ended } from './runner.ts'

/** The module that runs the command of `process.argv` when it is loaded. */
const [main] = process.argv.splice(2) as [string]
let count = 0

process.on('message', async (asked: Asked) => void process.send!(await run(asked)))
process.on('disconnect', () => process.exit())

/** What keeps this process alive between two commands: the channel to its parent. */
const own = resources()

async function run({ args, folder, env, input }: Asked): Promise<Ended> {
  process.chdir(folder)
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  process.argv.splice(2, process.argv.length, ...args)
  process.exitCode = undefined
  const [out, err] = [new Pipe(1), new Pipe(2)]
  replace('stdin', Readable.from([Buffer.from(input)], { objectMode: false }))
  replace('stdout', out)
  replace('stderr', err)
  // Another address of the module: only it is loaded again.
  await import(`${main}?${++count}`)
  // A process would end as soon as nothing keeps it alive.
  while (resources() > own) await pause(1, undefined, { ref: false })
  return { code: Number(process.exitCode ?? 0), out: out.text(), err: err.text() }
}

function resources(): number {
  // A read of a file that has ended is listed until the next garbage collection.
  return process.getActiveResourcesInfo().filter((name) => name !== 'FileHandleReadWrap').length
}

function replace(stream: 'stdin' | 'stdout' | 'stderr', value: Readable | Writable): void {
  Object.defineProperty(process, stream, { value, configurable: true })
}

/** A pipe whose other end is read at once. Its number is that of the real stream. */
class Pipe extends Writable {
  readonly fd: number
  readonly #chunks: Buffer[] = []

  constructor(fd: number) {
    super({ decodeStrings: true })
    this.fd = fd
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk)
    done()
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8')
  }
}
