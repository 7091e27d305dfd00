import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadFolder } from './load.ts'

const SHIP = `import { noun } from '@tildebase/nouns'

export const Ship = noun('Ship', {
  name: 'string!',
})
`

test.each([
  ['a sign too many', SHIP.replace("'string!'", "'string!' 1"), 'tilde/ship.ts:4: Expected'],
  [
    'syntax that Node does not strip',
    `${SHIP}enum Size { Small }\n`,
    'tilde/ship.ts:6: TypeScript enum is not supported',
  ],
  ['a name that is not there', SHIP.replace('= noun', '= nuon'), 'tilde/ship.ts:3: nuon is not defined'],
  [
    'an import that is not there',
    SHIP.replace('{ noun }', '{ nuon }'),
    "tilde/ship.ts:1: The requested module '@tildebase/nouns'",
  ],
  [
    'a kind that is not there',
    SHIP.replace('string!', 'strng!'),
    'tilde/ship.ts:3: The declaration of Ship is not valid.',
  ],
  [
    'a package that is not installed',
    `import 'left-pad'\n${SHIP}`,
    'tilde/ship.ts: The package left-pad is not installed. Run: npm install left-pad',
  ],
  [
    'a package of Tildebase that there is not',
    SHIP.replace('/nouns', '/noun'),
    'tilde/ship.ts: The package @tildebase/noun is not installed. Run: npm install @tildebase/noun',
  ],
])('%s is named with its file and its line', async (_, text, sentence) => {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-load-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'tilde'))
  writeFileSync(join(folder, 'tilde', 'ship.ts'), text)

  await expect(loadFolder(join(folder, 'tilde'))).rejects.toThrow(sentence)
})
