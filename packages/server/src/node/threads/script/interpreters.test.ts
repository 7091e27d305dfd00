import { expect, test } from 'vitest'
import { Interpreters, USUAL_BYTES } from './interpreters.ts'

const SECRET = 'a-secret-of-acme'

/** Runs code as a worker does, and says whether the memory of its interpreter holds the secret. */
async function holdsSecret(interpreters: Interpreters, owner: string, code: string): Promise<boolean> {
  const wasm = await interpreters.for(owner, USUAL_BYTES)
  const before = Buffer.from(wasm.getWasmMemory().buffer).includes(SECRET)
  const context = wasm.newContext()
  context.unwrapResult(context.evalCode(code)).dispose()
  context.dispose()
  interpreters.ended(true)
  return before
}

test('the interpreter of another owner holds nothing of what earlier owners left in their memory', async () => {
  const interpreters = new Interpreters()
  const leaving = `globalThis.left = Array.from({ length: 9999 }, (_, i) => '${SECRET}' + i)`

  const found: boolean[] = []
  for (const owner of ['acme', 'acme', 'beta', 'corp', 'dyno', 'echo'])
    found.push(await holdsSecret(interpreters, owner, owner === 'acme' ? leaving : '1'))

  // The owner itself continues in the memory that it had: so the test would see what is left.
  expect(found).toEqual([false, true, false, false, false, false])
})

test('interpreters of owners that follow each other use two memories in turn', async () => {
  const interpreters = new Interpreters()

  const memories: WebAssembly.Memory[] = []
  for (const owner of ['acme', 'beta', 'corp', 'dyno', 'echo']) {
    memories.push((await interpreters.for(owner, USUAL_BYTES)).getWasmMemory())
    interpreters.ended(true)
  }

  expect(new Set(memories).size).toBe(2)
})

test('a memory that code has made larger, or that failed, is not used again', async () => {
  const interpreters = new Interpreters()
  const first = (await interpreters.for('acme', USUAL_BYTES)).getWasmMemory()
  first.grow(1)
  interpreters.ended(true)
  const second = (await interpreters.for('beta', USUAL_BYTES)).getWasmMemory()
  interpreters.ended(false)

  const later: WebAssembly.Memory[] = []
  for (const owner of ['corp', 'dyno', 'echo', 'fern']) {
    later.push((await interpreters.for(owner, USUAL_BYTES)).getWasmMemory())
    interpreters.ended(true)
  }

  expect(later).not.toContain(first)
  expect(later).not.toContain(second)
})
