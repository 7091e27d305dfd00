// Looks for the words that CONTRIBUTING.md asks to avoid, in all that people read.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPhrases } from './find.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const READ = /\.(?:md|tsx?|js|html|css|ya?ml|service|conf|py)$|(?:^|\/)(?:Dockerfile|Caddyfile)$|^\.ci\/run$/
// The word list names the words to avoid.
const LEFT_OUT = /^test\/words\//

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => READ.test(file) && !LEFT_OUT.test(file) && existsSync(join(ROOT, file)))

let count = 0
for (const file of files) {
  for (const { line, phrase, instead } of findPhrases(file, readFileSync(join(ROOT, file), 'utf8'))) {
    console.error(`${file}:${line}: “${phrase}” → ${instead}`)
    count++
  }
}
if (count > 0) {
  console.error(`\n${count} phrases to replace. CONTRIBUTING.md, “Words”, says how we write.`)
  process.exitCode = 1
} else console.log(`Words: ${files.length} files read well.`)
