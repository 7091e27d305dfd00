import { ask } from './server.ts'

/** What a writer knows of one entity: the last acknowledged state, and unanswered requests. */
interface Belief {
  readonly id: string
  version: number
  count: number
  gone: boolean
  /** Whether it was written since the last check. */
  fresh: boolean
  pending: 'update' | 'delete' | null
}

interface Found {
  readonly $version: number
  readonly count: number
}

/** A client that writes without pause, and remembers every acknowledgement. */
export class Writer {
  readonly name: string
  readonly beliefs: Belief[] = []
  /** Creations that were sent and never answered: by Idempotency-Key. */
  readonly unanswered: string[] = []
  acknowledged = 0
  #keys = 0

  constructor(name: string) {
    this.name = name
  }

  /** Writes until the connection breaks. */
  async run(url: string, chance: () => number): Promise<void> {
    for (;;) {
      const belief = this.beliefs[Math.floor(chance() * this.beliefs.length)]
      const alive = belief && !belief.gone && belief.pending === null
      const answered =
        !alive || chance() < 0.4
          ? await this.#create(url)
          : chance() < 0.85
            ? await this.#update(url, belief)
            : await this.#delete(url, belief)
      if (!answered) return
      this.acknowledged++
    }
  }

  /** Sends again what was never answered, under the same keys: it must come to be once, and once only. */
  async repeat(url: string): Promise<void> {
    for (const key of this.unanswered.splice(0))
      if (!(await this.#create(url, key))) throw new Error('The server died while it was being checked.')
  }

  /** The differences from the acknowledged state: in lists, and for each recently written entity. */
  async check(url: string): Promise<string[]> {
    const faults: string[] = []
    const listed = await this.#list(url)
    for (const belief of this.beliefs) {
      const entity = listed.get(belief.id)
      faults.push(...judge(belief, entity))
      if (belief.fresh) {
        const reply = await ask(url, 'GET', `/~acme/Contact/${belief.id}`)
        if (reply === null) throw new Error('The server died while it was being checked.')
        faults.push(...judge(belief, reply.status === 404 ? undefined : reply.body))
      }
      settle(belief, entity)
    }
    const expected = this.beliefs.filter(({ gone }) => !gone).length
    if (listed.size !== expected) faults.push(`${this.name} knows ${expected} contacts, the server has ${listed.size}`)
    return faults
  }

  async #list(url: string): Promise<ReadonlyMap<string, Found>> {
    const found = new Map<string, Found>()
    let cursor: string | null = null
    do {
      const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const reply = await ask(url, 'GET', `/~acme/Contact?writer=${this.name}&limit=100${query}`)
      if (reply === null) throw new Error('The server died while it was being checked.')
      for (const entity of reply.body.results) found.set(entity.$id, entity)
      cursor = reply.body.hasMore ? reply.body.cursor : null
    } while (cursor !== null)
    return found
  }

  async #create(url: string, key = `${this.name}-${++this.#keys}`): Promise<boolean> {
    const reply = await ask(
      url,
      'POST',
      '/~acme/Contact',
      { name: key, email: `${key}@example.org`, writer: this.name, count: 0 },
      { 'idempotency-key': key },
    )
    if (reply === null) this.unanswered.push(key)
    else if (reply.status !== 201) throw new Error(`A creation was refused: ${JSON.stringify(reply)}`)
    else this.beliefs.push({ id: reply.body.$id, version: 1, count: 0, gone: false, fresh: true, pending: null })
    return reply !== null
  }

  async #update(url: string, belief: Belief): Promise<boolean> {
    Object.assign(belief, { pending: 'update', fresh: true })
    const reply = await ask(
      url,
      'PUT',
      `/~acme/Contact/${belief.id}`,
      { count: belief.count + 1 },
      { 'if-match': `"${belief.version}"` },
    )
    if (reply === null) return false
    if (reply.status !== 200) throw new Error(`An update was refused: ${JSON.stringify(reply)}`)
    Object.assign(belief, { pending: null, version: reply.body.$version, count: belief.count + 1 })
    return true
  }

  async #delete(url: string, belief: Belief): Promise<boolean> {
    Object.assign(belief, { pending: 'delete', fresh: true })
    const reply = await ask(url, 'DELETE', `/~acme/Contact/${belief.id}`)
    if (reply === null) return false
    Object.assign(belief, { pending: null, gone: true })
    return true
  }
}

/** The state must be the one acknowledged last, or that with the one change that was never answered. */
function judge(belief: Belief, entity: Found | undefined): string[] {
  const found = entity === undefined ? 'gone' : `version ${entity.$version}, count ${entity.count}`
  const allowed = [belief.gone ? 'gone' : `version ${belief.version}, count ${belief.count}`]
  if (belief.pending === 'delete') allowed.push('gone')
  if (belief.pending === 'update') allowed.push(`version ${belief.version + 1}, count ${belief.count + 1}`)
  return allowed.includes(found) ? [] : [`${belief.id} is ${found}; it must be ${allowed.join(' or ')}`]
}

function settle(belief: Belief, entity: Found | undefined): void {
  Object.assign(belief, { pending: null, fresh: false })
  if (entity === undefined) belief.gone = true
  else Object.assign(belief, { version: entity.$version, count: entity.count })
}
