import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build, type Plugin } from 'rolldown'
import type { Manifest } from './manifest.ts'

/**
 * Joins the modules of a package that are loaded together into a few files: the more files, the longer a start takes. Each
 * entry of the package keeps its path, and what entries share is there once. Packages to publish are made of what `tsc -b` has
 * compiled into `lib`, for its declarations; the joined files of `src` run as well.
 */
export async function bundle(
  from: string,
  to: string,
  manifest: Manifest,
  folder: 'lib' | 'src' = 'lib',
): Promise<void> {
  const modules = join(from, folder)
  const ending = folder === 'lib' ? '.js' : '.ts'
  const inputs = entriesOf(manifest, modules, ending).map((entry) => [entry, join(modules, entry + ending)])
  await build({
    cwd: from,
    input: Object.fromEntries(inputs),
    platform: 'node',
    // Every other package, modules of Node, and the package's own entries that are found by name. Not what rolldown adds.
    external: /^(?!@oxc-project\/)[^./\0]/,
    plugins: [sourceMaps(join(from, 'lib'))],
    output: {
      dir: join(to, 'lib'),
      entryFileNames: '[name].js',
      chunkFileNames: 'shared/[name]-[hash].js',
      sourcemap: true,
      // Maps are read beside the sources of the published package.
      sourcemapPathTransform: (source, map) =>
        relative(join(map, '..'), join(to, relative(from, join(map, '..', source)))),
    },
  })
}

/** `./src/host/proof/chain.ts` as `host/proof/chain`: what others import, and what the package itself loads by its name. */
function entriesOf({ exports = {}, imports = {} }: Manifest, modules: string, ending: string): string[] {
  return [...Object.values(exports), ...Object.values(imports)].flatMap((target) => {
    const [, entry] = /^\.\/src\/(.+)\.ts$/.exec(String(target)) ?? []
    if (entry === undefined) return []
    return globSync(entry + ending, { cwd: modules }).map((file) => file.slice(0, -ending.length))
  })
}

/** The compiler has already mapped its files to the sources. */
function sourceMaps(compiled: string): Plugin {
  return {
    name: 'source-maps',
    load(id) {
      if (relative(compiled, id).startsWith('..') || !id.endsWith('.js')) return null
      return { code: readFileSync(id, 'utf8'), map: readFileSync(`${id}.map`, 'utf8') }
    },
  }
}
