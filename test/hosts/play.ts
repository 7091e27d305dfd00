import { afterAll, beforeAll, test } from 'vitest'
import { type Stage, stageAt } from './ask.ts'
import { SCENARIOS } from './scenarios.ts'

interface Started {
  readonly url: string
  stop(): Promise<void>
}

/** Quick retries of webhooks to this machine. */
export const FAST = { TILDE_WEBHOOKS_INSECURE: '1', TILDE_WEBHOOK_RETRIES: '300ms,1s,1s,1s,1s' }

/** Plays all scenarios on a host, each in its own tenant. */
export function playScenarios(start: () => Promise<Started>): void {
  let host: Started
  let stage: Stage

  beforeAll(async () => {
    host = await start()
    stage = stageAt(() => host.url)
  })
  afterAll(() => host?.stop())

  test.each(Object.entries(SCENARIOS))('%s', async (title, play) => {
    await play(stage, `/~scene-${Object.keys(SCENARIOS).indexOf(title)}`)
  })
}
