import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { Problem } from '@tildebase/nouns'
import { layOut } from '@tildebase/tenant'
import { openSql } from './sql.ts'

/** Where the tenants' files are. Two letters of the slug make a folder, so that no folder holds them all. */
export class TenantFiles {
  readonly #folder: string
  readonly #template: string

  constructor(data: string) {
    this.#folder = join(data, 'tenants')
    this.#template = join(data, 'template.db')
  }

  /** Makes the folder and the empty tenant that new ones are copied from. Once per start of the host, in one thread. */
  prepare(): void {
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      accessSync(this.#folder, constants.W_OK)
    } catch (reason) {
      const { code } = reason as NodeJS.ErrnoException
      throw new Problem('unavailable', `The data folder cannot be written to (${code}): ${this.#folder}`)
    }
    this.#makeTemplate()
  }

  /** The file of a tenant. The slug has been checked at the door. */
  pathOf(slug: string): string {
    return join(this.#folder, slug.slice(0, 2), `${slug}.db`)
  }

  has(slug: string): boolean {
    return existsSync(this.pathOf(slug))
  }

  /** Creates the file of a new tenant as a copy of an empty one: a tenant's first write need not lay out tables. */
  create(slug: string): void {
    const fresh = join(this.#folder, `${slug}.new`)
    copyFileSync(this.#template, fresh)
    this.adopt(slug, fresh)
  }

  /** Moves a file to where the tenant's own is. */
  adopt(slug: string, from: string): void {
    const path = this.pathOf(slug)
    const folder = dirname(path)
    syncPath(from)
    for (;;) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      try {
        renameSync(from, path)
        break
      } catch (reason) {
        // Another thread may have removed the folder with the last tenant that was in it.
        if (existsSync(folder)) throw reason
      }
    }
    syncPath(folder)
  }

  /** Removes the file of a tenant, and its folder when it was the last one there. */
  remove(slug: string): void {
    const path = this.pathOf(slug)
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
    try {
      rmdirSync(dirname(path))
    } catch {
      // There are others in it.
    }
  }

  /** All tenants there are. */
  slugs(): string[] {
    return this.#names()
      .filter((name) => name.endsWith('.db'))
      .map((name) => name.slice(0, -'.db'.length))
  }

  /** Tenants that were open when the process died: their log of writes is still beside their file. */
  interrupted(): string[] {
    return this.#names()
      .filter((name) => name.endsWith('.db-wal'))
      .map((name) => name.slice(0, -'.db-wal'.length))
  }

  #names(): string[] {
    return readdirSync(this.#folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap((entry) => readdirSync(join(this.#folder, entry.name)))
  }

  /** Made anew at every start: it belongs to the program's version, not to the data. */
  #makeTemplate(): void {
    const fresh = `${this.#template}.${process.pid}`
    rmSync(fresh, { force: true })
    const sql = openSql(fresh)
    layOut(sql)
    sql.close()
    renameSync(fresh, this.#template)
  }
}

function syncPath(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}
