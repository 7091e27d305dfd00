import { resolve } from 'node:path'
import type { Command } from '../command.ts'
import { FOLDER, TYPES_FILE, writeTypes } from '../folder/push.ts'
import { ownTypesOf, typesText } from '../folder/types-file.ts'
import { someWords } from '../output/words.ts'

export const command: Command = {
  usage: 'types [-o FILE]',
  summary: "writes the tenant's types as TypeScript declarations, so that $.MyType is typed",
  flags: {
    output: { type: 'string', short: 'o', help: `the file; - is standard output; default ${FOLDER}/${TYPES_FILE}` },
  },
  examples: ['tilde types', 'tilde types -o src/tilde.d.ts', 'tilde types -o -'],
  async run(call) {
    someWords(call, [])
    const file = call.flags.text('output') ?? `${FOLDER}/${TYPES_FILE}`
    if (file === '-') return call.out.bytes(Buffer.from(typesText(await ownTypesOf(call.link()))))
    await writeTypes(call.link(), FOLDER, resolve(file))
    call.out.line(file)
  },
}
