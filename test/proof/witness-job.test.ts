import { OPERATOR } from '@tildebase/tenant'
import { expect, test } from 'vitest'
import { createSigner } from '../../packages/server/src/host/proof/signer.ts'
import { witnessJob } from '../../packages/tenant/src/services/proof/witness-job.ts'
import { openAcme } from '../tenant/fixture.ts'

const MINUTE = 60_000

/** A tenant whose witness answers with a status, and what the witness was sent. */
function openWitnessed() {
  const { tenant, clock, close } = openAcme()
  const sent: string[] = []
  const witness = {
    name: 'w.example/witness',
    publicKey: new Uint8Array(32),
    submit: async (body: string) => {
      sent.push(body)
      return { status: 503, text: '' }
    },
  }
  tenant.equip({ signer: createSigner(() => new Uint8Array(32).fill(1)), witnesses: [witness] })
  const job = witnessJob(tenant.engine, tenant.services.checkpoints)
  const write = () => tenant.act({ type: 'Contact', verb: 'create', data: { name: 'Ada' }, actor: 't' })
  return { tenant, clock, close, sent, job, write }
}

test('a new event is sent to the witnesses after a minute, and after ten when they did not cosign', async () => {
  const { clock, close, sent, job, write } = openWitnessed()
  expect(job.due()).toBeNull()

  write()
  const first = job.due()
  clock.at += MINUTE
  await job.run()

  expect(first).toBe(clock.at)
  expect(sent).toEqual([expect.stringMatching(/^old 0\n\nlocalhost\/~acme\n1\n/)])
  expect(job.due()).toBe(clock.at + 10 * MINUTE)
  close()
})

test('witnesses are asked once in ten seconds, however often a checkpoint is read', async () => {
  const { tenant, clock, close, sent, write } = openWitnessed()
  write()

  const checkpoint = () => tenant.facade.prove(OPERATOR).checkpoint()
  await Promise.all([checkpoint(), checkpoint()])
  await checkpoint()
  const within = sent.length
  clock.at += 10_000
  await checkpoint()

  expect([within, sent.length]).toEqual([1, 2])
  close()
})
