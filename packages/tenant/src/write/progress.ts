/** Where a write says how far it is. A part is an entity, a change or an operation. */
export interface Progress {
  /** Says that so many parts follow. They are counted only for a task, whose progress is shown. */
  expect(count: () => number): void
  /** Says that so many parts are done. */
  advance(count?: number): void
}

/** The progress of a write outside of tasks: no request sees it. */
export const UNSEEN: Progress = { expect() {}, advance() {} }

/** The progress of a task. */
export class TaskProgress implements Progress {
  done = 0
  total = 0

  expect(count: () => number): void {
    this.total += count()
  }

  advance(count = 1): void {
    this.done += count
  }

  /** The task begins again. */
  restart(): void {
    this.done = 0
    this.total = 0
  }
}
