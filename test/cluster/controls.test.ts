import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CONTROLS } from './controls.ts'
import { ROOT } from './machines/checkout.ts'

test.each(
  Object.entries(CONTROLS).flatMap(([control, { patches }]) => patches.map((patch) => ({ control, ...patch }))),
)('the control $control finds the text that it replaces in $file', ({ file, text }) => {
  const parts = readFileSync(join(ROOT, file), 'utf8').split(text)

  expect(parts).toHaveLength(2)
})
