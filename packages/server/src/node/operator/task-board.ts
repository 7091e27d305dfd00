import { isoOf } from '@tildebase/nouns'

/** How far a step is: of how much, if that is known. */
export interface Measure {
  readonly done: number
  readonly of: number | null
  readonly unit: 'bytes' | 'events'
}

/** What the operator asked for and is in progress. */
export interface Task {
  /** Begins a step of the task. `measure` is called when the progress is read. */
  step(name: string, measure?: () => Measure | null): void
}

/** A task that is shown until its end is called. */
export interface BegunTask extends Task {
  end(): void
}

interface Entry {
  readonly tenant: string
  readonly task: string
  readonly since: number
  step: string
  measure: () => Measure | null
}

/** What is in progress for the operator, and how far it is. */
export class TaskBoard {
  readonly #entries = new Set<Entry>()

  /** Shows a task of a tenant while the work continues. */
  async during<T>(tenant: string, task: string, work: (task: Task) => Promise<T>): Promise<T> {
    const begun = this.begin(tenant, task)
    try {
      return await work(begun)
    } finally {
      begun.end()
    }
  }

  /** Shows a task of a tenant until its end is called. */
  begin(tenant: string, task: string): BegunTask {
    const entry: Entry = { tenant, task, since: Date.now(), step: 'begin', measure: () => null }
    this.#entries.add(entry)
    return {
      step(name, measure = () => null) {
        entry.step = name
        entry.measure = measure
      },
      end: () => void this.#entries.delete(entry),
    }
  }

  /** The tasks of a tenant, or of all, oldest first. */
  list(slug?: string): object[] {
    const found = [...this.#entries].filter(({ tenant }) => slug === undefined || tenant === slug)
    return found.map(({ tenant, task, since, step, measure }) => {
      return { tenant, task, step, since: isoOf(since), ...measure() }
    })
  }
}
