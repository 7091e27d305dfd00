import { MessageChannel } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { Wire } from './wire.ts'

test('messages of a tick travel together, and a batch that is full leaves before the tick is over', async () => {
  const { port1, port2 } = new MessageChannel()
  const batches: number[][] = []
  const heard = new Promise<void>((done) =>
    port2.on('message', (batch: number[]) => {
      batches.push(batch)
      if (batches.flat().length === 70) done()
    }),
  )
  const wire = new Wire<number, number>(port1, () => {})

  for (let i = 0; i < 70; i++) wire.send(i)
  await heard

  expect(batches.map((batch) => batch.length)).toEqual([32, 32, 6])
  expect(batches.flat()).toEqual(Array.from({ length: 70 }, (_, i) => i))
  port1.close()
})
