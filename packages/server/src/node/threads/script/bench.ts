import { stripTypeScriptTypes } from 'node:module'
import { CodeError } from '../../../host/script/code.ts'
import type { Bench } from '../../../host/script/machine.ts'

/** The thread of a worker on Node. */
export const bench: Bench = { strip, cpuNow }

const KNOWN = { typed: 'let a: { b: string }[] = [] as any', plain: 'let a                  = []       ' }

/** Whether this thread still reads known code as it should: nothing that the last code did to it is left. */
export function isSound(): boolean {
  try {
    return strip(KNOWN.typed) === KNOWN.plain
  } catch {
    return false
  }
}

/** Removes types as Node itself does. */
export function strip(text: string): string {
  try {
    return stripTypeScriptTypes(text)
  } catch (reason) {
    const { code, message } = reason as NodeJS.ErrnoException
    if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') throw new CodeError(`${message}. Write it in plain JavaScript.`)
    throw code === 'ERR_INVALID_TYPESCRIPT_SYNTAX' ? new SyntaxError(message) : reason
  }
}

/** The first versions of Node 22 cannot tell what a thread has computed: there waiting counts too. */
function cpuNow(): number {
  if (process.threadCpuUsage === undefined) return performance.now()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
