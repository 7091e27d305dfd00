import { DurableObject } from 'cloudflare:workers'
import { LazySql } from '../../packages/server/src/workerd/object/lazy-sql.ts'
import { DurableSql } from '../../packages/server/src/workerd/object/sql.ts'
import { SQL_CONTRACT } from '../../packages/tenant/src/sql.contract.ts'

/** Returns whether a promise of the Sql contract holds in here: `/3` is the fourth of them. */
export class Contract extends DurableObject<unknown> {
  override fetch(request: Request): Response {
    const [, kind, index] = new URL(request.url).pathname.split('/')
    const sql = new DurableSql(this.ctx.storage)
    try {
      if (kind === 'unwritten') sql.run('CREATE TABLE log (seq)')
      SQL_CONTRACT[Number(index)]!.holds(kind === 'unwritten' ? new LazySql(sql) : sql)
      return new Response('holds')
    } catch (reason) {
      return new Response(String(reason))
    }
  }
}

interface Env {
  readonly OBJECTS: import('cloudflare:workers').DurableObjectNamespace
}

export default {
  fetch(request: Request, env: Env): Promise<Response> {
    return env.OBJECTS.get(env.OBJECTS.idFromName(new URL(request.url).pathname)).fetch(request)
  },
}
