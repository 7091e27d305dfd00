import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { balance, findClaims } from './ledger.ts'
import { openFile, report } from './ledger-report.ts'
import { OPEN } from './requirements/open.ts'
import { REQUIREMENTS } from './requirements.ts'

const { write } = parseArgs({ options: { write: { type: 'boolean', default: false } } }).values
const ledger = balance(REQUIREMENTS, OPEN, findClaims(join(import.meta.dirname, '..')))

if (write) writeFileSync(join(import.meta.dirname, 'requirements', 'open.ts'), openFile(ledger.open))
console.log(report(ledger))
