/** The acknowledged state of a tenant: the version and the number of each contact. */
export type Acknowledged = Map<string, { readonly version: number; readonly leadScore: number }>

/** A well-behaved client: creates, updates and reads, and remembers what was acknowledged. */
export class Writer {
  readonly acknowledged: Acknowledged = new Map()
  readonly waits: number[] = []
  errors = 0
  readonly #url: string
  readonly #key: string
  readonly #ids: string[] = []

  constructor(url: string, tenant: string, key: string) {
    this.#url = `${url}/~${tenant}`
    this.#key = key
  }

  async run(signal: AbortSignal): Promise<void> {
    for (let i = 0; !signal.aborted; i++) {
      const begun = performance.now()
      await this.#act(i).catch(() => {
        this.errors++
      })
      this.waits.push(performance.now() - begun)
      await new Promise((done) => setTimeout(done, 20))
    }
  }

  async #act(i: number): Promise<void> {
    const id = this.#ids[(i * 7919) % (this.#ids.length || 1)]
    if (i % 5 === 0 || id === undefined) {
      const made = await this.#ask('POST', '/Contact', { name: `Person ${i}`, leadScore: 0 })
      this.#ids.push(made.$id)
    } else if (i % 5 === 1) await this.#ask('PUT', `/Contact/${id}`, { leadScore: i })
    else if (i % 5 === 2) await this.#ask('GET', '/Contact?limit=10')
    else await this.#ask('GET', `/Contact/${id}`)
  }

  async #ask(method: string, path: string, body?: object): Promise<{ $id: string }> {
    const headers = { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' }
    const response = await fetch(this.#url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    const answer = (await response.json()) as { $id: string; $version: number; leadScore: number }
    if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}.`)
    if (body) this.acknowledged.set(answer.$id, { version: answer.$version, leadScore: answer.leadScore })
    return answer
  }

  /** The contacts that were acknowledged and are not there as they were. */
  async lost(): Promise<string[]> {
    const headers = { authorization: `Bearer ${this.#key}` }
    const text = await (await fetch(`${this.#url}/export/Contact?format=ndjson`, { headers })).text()
    const stored = new Map(
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
        .map((entity) => [entity.$id as string, entity]),
    )
    return [...this.acknowledged].flatMap(([id, { version, leadScore }]) => {
      const entity = stored.get(id)
      return entity?.$version === version && entity.leadScore === leadScore ? [] : [id]
    })
  }
}
