import { DurableObject } from 'cloudflare:workers'
import type { WorkerLoader } from '../../packages/server/src/workerd/ports/isolate.ts'
import { createScript } from '../../packages/server/src/workerd/ports/script.ts'

interface Env {
  readonly OBJECTS: import('cloudflare:workers').DurableObjectNamespace
  readonly LOADER: WorkerLoader
}

/** Runs the code of a request, each owner's in its own object. Calls are answered with what they were called with. */
export class Runner extends DurableObject<Env> {
  readonly #script = createScript(this.env.LOADER, this.ctx.id.name ?? 'nobody')

  override async fetch(request: Request): Promise<Response> {
    const asked = (await request.json()) as any
    const seen: string[] = []
    const answer = await this.#script.run({
      ...asked,
      call: async (name: string, args: readonly any[]) => {
        if (name === 'Fail.now') throw new Error('a fault with /a/path')
        if (asked.pauseMs) await new Promise((done) => setTimeout(done, asked.pauseMs))
        seen.push(name)
        return [name, ...args]
      },
    })
    return Response.json({ answer, seen })
  }
}

export default {
  fetch(request: Request, env: Env): Promise<Response> {
    return env.OBJECTS.get(env.OBJECTS.idFromName(new URL(request.url).pathname)).fetch(request)
  },
}
