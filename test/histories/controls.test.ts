import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Chance } from '../chance.ts'
import { copyCheckout, ROOT } from '../cluster/machines/checkout.ts'
import { startServer } from '../faults/server.ts'
import { CONTROLS } from './controls.ts'
import { onNode } from './hosts.ts'
import { judge, play } from './round.ts'

test.each(Object.entries(CONTROLS))('without the guard that %s, anomalies are found', async (_, { patch, shownBy }) => {
  const checkout = mkdtempSync(join(tmpdir(), 'tildebase-control-'))
  copyCheckout(ROOT, checkout, [patch])
  const host = await onNode('0', (data, env, flags) => startServer(data, env, flags, [], checkout))
  onTestFinished(async () => {
    await host.stop()
    rmSync(checkout, { recursive: true, force: true })
  })

  const played = await play(host.service, 'broken', new Chance(3), { clients: 6, requests: 150 })

  const kinds = new Set(judge(played).map(({ kind }) => kind))
  expect([...kinds].filter((kind) => shownBy.includes(kind))).not.toEqual([])
})
