import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** This repository. */
export const ROOT = join(import.meta.dirname, '..', '..', '..')

/** A change of one file: a string that must be there once, and what replaces it. */
export interface Patch {
  readonly file: string
  readonly text: string
  readonly by: string
}

/** Copies the packages of a checkout into a separate folder where they can run, optionally with other code. */
export function copyCheckout(from: string, folder: string, patches: readonly Patch[] = []): void {
  cpSync(join(from, 'packages'), join(folder, 'packages'), { recursive: true })
  cpSync(join(from, 'package.json'), join(folder, 'package.json'))
  linkModules(from, folder)
  for (const { file, text, by } of patches) {
    const path = join(folder, file)
    const parts = readFileSync(path, 'utf8').split(text)
    if (parts.length !== 2) throw new Error(`${file} has this text ${parts.length - 1} times: ${text}`)
    writeFileSync(path, parts.join(by))
  }
}

/** All modules of the checkout, except that its own packages are those of the copy. */
function linkModules(from: string, folder: string): void {
  const modules = join(from, 'node_modules')
  const own = '@tildebase'
  mkdirSync(join(folder, 'node_modules', own), { recursive: true })
  for (const name of readdirSync(modules)) {
    if (name !== own) symlinkSync(join(modules, name), join(folder, 'node_modules', name))
  }
  for (const name of readdirSync(join(modules, own))) {
    symlinkSync(join(folder, 'packages', name), join(folder, 'node_modules', own, name))
  }
}
