import { createWorker } from '../../packages/server/src/workerd/create.ts'

const { worker, TenantObject: Tenant, TenantDirectory } = createWorker()

interface Cursor {
  readonly rowsRead: number
  readonly rowsWritten: number
}

/** What all objects have read and written. */
let cursors: Cursor[] = []
const sums = { read: 0, written: 0 }

/** The object of a tenant, which counts the rows that the platform counts. */
class TenantObject extends Tenant {
  constructor(ctx: any, env: any) {
    const { sql } = ctx.storage
    const exec = sql.exec.bind(sql)
    sql.exec = (...given: unknown[]) => {
      const cursor = exec(...given)
      cursors.push(cursor)
      return cursor
    }
    super(ctx as never, env)
  }
}

export default {
  fetch(request: Request, env: any): Response | Promise<Response> {
    if (new URL(request.url).pathname !== '/rows') return worker.fetch(request, env)
    for (const { rowsRead, rowsWritten } of cursors) {
      sums.read += rowsRead
      sums.written += rowsWritten
    }
    cursors = []
    return Response.json(sums)
  },
}

export { TenantDirectory, TenantObject }
