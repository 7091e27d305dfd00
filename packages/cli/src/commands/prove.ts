import { writeFile } from 'node:fs/promises'
import type { Command } from '../command.ts'
import { oneWord } from '../output/words.ts'

export const command: Command = {
  usage: 'prove EVENT [-o FILE]',
  summary: 'checks that an event is in the signed log, and saves the proof',
  flags: {
    output: { type: 'string', short: 'o', help: 'a file for the proof: .json, or .html for a page that verifies it' },
    checkpoint: { type: 'string', help: 'a file for the signed checkpoint, for tilde verify --against' },
    keys: { type: 'string', help: 'a file with the public keys; default those that the service publishes' },
  },
  examples: ['tilde prove event_… -o proof.html', 'tilde prove 42 --checkpoint checkpoint.txt'],
  async run({ words, flags, settings, out, link }) {
    const id = oneWord({ words }, 'the id of an event, or its seq')
    const { checkEvent } = await import('../proof/check-event.ts')
    const { knownKeys } = await import('../proof/trusted.ts')
    const { $ } = link()
    const proof = await $.proof.event(id)
    const { origin, size, key, note } = await checkEvent(proof, await knownKeys(flags.text('keys'), settings.url))
    const [file, checkpoint] = [flags.text('output'), flags.text('checkpoint')]
    if (file !== undefined)
      await writeFile(file, file.endsWith('.html') ? await $.proof.page(id) : `${JSON.stringify(proof, null, 2)}\n`)
    if (checkpoint !== undefined) await writeFile(checkpoint, proof.checkpoint!)
    const witnesses = note.signatures.map(({ name }) => name).filter((name) => name !== origin)
    const values = proof.entry.salt === null ? 'not shown' : 'proved'
    out.record({
      event: proof.event,
      ok: true,
      seq: proof.seq,
      values,
      origin,
      size,
      key,
      witnesses: witnesses.join(', '),
    })
  },
}
