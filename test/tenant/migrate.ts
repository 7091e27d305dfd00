import { ensureLayout } from '@tildebase/tenant/internal'
import { openSql } from '../../packages/server/src/node/sqlite/sql.ts'

/** Opens a file of an earlier layout, and is killed when some of its rows have moved. */
const [path, slices] = process.argv.slice(2)
let left = Number(slices)
ensureLayout(openSql(path!), () => {
  if (--left === 0) process.kill(process.pid, 'SIGKILL')
})
