/** A package.json, as far as publishing changes it. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly exports?: { readonly [path: string]: unknown }
  readonly imports?: { readonly [path: string]: unknown }
  readonly publishConfig: { readonly engines: { readonly node: string } }
  readonly [field: string]: unknown
}

/** What only the repository needs. */
const DEVELOPMENT = ['scripts', 'devDependencies', 'publishConfig', 'private']

/**
 * The manifest of the published package: the entries of the sources become those of the built files. What it runs on is
 * kept in `publishConfig`, as the repository is installed by older Nodes too.
 */
export function publishedManifest(manifest: Manifest, shared: object): Manifest {
  const { exports, imports, publishConfig } = manifest
  return {
    ...Object.fromEntries(Object.entries(manifest).filter(([field]) => !DEVELOPMENT.includes(field))),
    ...(exports && { exports: built(exports) }),
    ...(imports && { imports: built(imports) }),
    engines: publishConfig.engines,
    ...shared,
  } as unknown as Manifest
}

function built(entries: { readonly [path: string]: unknown }): { [path: string]: unknown } {
  return Object.fromEntries(Object.entries(entries).map(([path, target]) => [path, builtTarget(target)]))
}

/** `./src/index.ts` as the pair of its declaration and its JavaScript. */
function builtTarget(target: unknown): unknown {
  const [, file] = /^\.\/src\/(.+)\.ts$/.exec(String(target)) ?? []
  return file === undefined ? target : { types: `./lib/${file}.d.ts`, default: `./lib/${file}.js` }
}
