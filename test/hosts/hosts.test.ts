import { afterAll, beforeAll, describe, test } from 'vitest'
import { testHost } from '../host.ts'
import { type Stage, stageAt } from './ask.ts'
import { SCENARIOS } from './scenarios.ts'
import { SERVICE, startWorkerd } from './workerd.ts'

interface Started {
  readonly url: string
  stop(): Promise<void>
}

const FAST = { TILDE_WEBHOOKS_INSECURE: '1', TILDE_WEBHOOK_RETRIES: '300ms,1s,1s,1s,1s' }

const HOSTS = {
  'Node in one thread': { start: () => testHost(FAST, { workers: '0' }) },
  'Node with two workers': { start: () => testHost(FAST, { workers: '2' }) },
  workerd: { start: () => startWorkerd({ ...SERVICE, variables: FAST }) },
} satisfies Record<string, { start: () => Promise<Started> }>

describe.each(Object.entries(HOSTS))('on %s', (name, { start }) => {
  let host: Started
  let stage: Stage

  beforeAll(async () => {
    host = await start()
    stage = stageAt(() => host.url)
  })
  afterAll(() => host?.stop())

  test.each(Object.entries(SCENARIOS))('%s', async (title, play) => {
    const number = Object.keys(SCENARIOS).indexOf(title)
    await play(stage, `/~scene-${number}-${name.length}`)
  })
})
