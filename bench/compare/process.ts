import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** The address that a server prints when it is ready. */
export function addressOf(child: ChildProcess, pattern = /http:\/\/[^\s]+/): Promise<string> {
  return new Promise((done, failed) => {
    let said = ''
    child.stdout!.on('data', (chunk) => {
      said += chunk
      const found = pattern.exec(said)
      if (found) done(found[0])
    })
    child.once('exit', (code) => failed(new Error(`It ended with ${code} before it was ready: ${said}`)))
  })
}

/** Ends a process that we started. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 8_000)
  await gone
  clearTimeout(timer)
}

/** Runs `work` for every number below `count`, so many at once. */
export async function concurrently(count: number, width: number, work: (i: number) => Promise<void>): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < count) await work(next++)
    }),
  )
}
