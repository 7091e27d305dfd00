import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'

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

/** Waits until a URL answers with success, or the process behind it ends. */
export async function answering(url: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 1_200; tries++) {
    if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode} before it was ready.`)
    const answer = await fetch(url).catch(() => null)
    if (answer?.ok) return
    await new Promise((later) => setTimeout(later, 100))
  }
  throw new Error(`${url} did not answer within two minutes.`)
}

/** Ends a process that we started. */
export async function stopProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null) return
  const gone = once(child, 'exit')
  child.kill(signal)
  const timer = setTimeout(() => child.kill('SIGKILL'), 8_000)
  await gone
  clearTimeout(timer)
}

/** Runs a command to its end, or tells what it said. */
export async function command(program: string, args: readonly string[], options: object = {}): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (said += chunk))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${program} ${args[0]} ended with ${code}: ${said.trim().slice(-400)}`)
}

/** A free port on loopback. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
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
