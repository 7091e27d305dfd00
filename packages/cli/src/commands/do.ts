import type { Command } from '../command.ts'
import { proposed } from '../entities/proposed.ts'
import { readText } from '../files.ts'
import { cell } from '../output/cell.ts'
import { standardInput } from '../output/words.ts'
import { UsageError } from '../parse/usage-error.ts'

export const command: Command = {
  usage: 'do Type.verb ID [--field value …]\ndo --code CODE | --file FILE',
  summary: 'runs a verb, or code on the server where $ is the tenant',
  flags: {
    code: { type: 'string', help: 'TypeScript; its last expression is the result; - reads standard input' },
    file: { type: 'string', help: 'a file with the code' },
  },
  examples: [
    'tilde do Contact.qualify contact_…',
    `tilde do --code 'await $.Contact.count()'`,
    'tilde do --file clean-up.ts --dry-run',
    "tilde do --file clean-up.ts --propose 'Clean up'",
  ],
  heeds: ['dry-run', 'propose'],
  async run(call) {
    const { flags, settings, out } = call
    const file = flags.text('file')
    const given = file === undefined ? flags.text('code') : await readText(file)
    const isBoth = file !== undefined && flags.has('code')
    if (given === undefined || isBoth || call.words.length > 0)
      throw new UsageError('Give a verb, as in tilde do Contact.qualify ID, or either --code CODE or --file FILE.')
    const code = given === '-' ? await standardInput() : given
    const { dryRun, propose } = settings
    const body = { code, dryRun, propose }
    const answer = await call.link().$.request('POST', '/do', { body, once: true })
    if (out.json) return out.value(answer)
    for (const line of answer.logs) process.stderr.write(`${cell(line)}\n`)
    out.value(answer.result ?? null)
    if (answer.changeset) return proposed(call, answer.changeset)
    if (dryRun) out.note(`Dry run: nothing was written. A real run would write ${answer.events?.length} event(s).`)
    else if (answer.correlation) out.note(`Correlation ${answer.correlation}.`)
  },
}
