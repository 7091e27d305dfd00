import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pack } from './installed.ts'

/** A registry with the packages of this repository, packed as they would be published. The others come from that of npm. */
export async function startRegistry() {
  const { tarballs, remove } = await pack()
  const cache = mkdtempSync(join(tmpdir(), 'tildebase-npm-'))
  const others = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim().replace(/\/$/, '')
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url!)
    const file = tarballs.find((tarball) => path === `/${basename(tarball)}`)
    const description = packages.get(path.slice(1))
    if (file) response.end(readFileSync(file))
    else if (description) response.setHeader('content-type', 'application/json').end(JSON.stringify(description))
    else response.writeHead(307, { location: `${others}${request.url}` }).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const packages = new Map(tarballs.map((tarball) => describe(tarball, url)))
  return {
    /** What npm needs in its environment. */
    env: { npm_config_registry: url, npm_config_cache: cache, npm_config_audit: 'false', npm_config_fund: 'false' },
    stop() {
      server.close()
      remove()
      rmSync(cache, { recursive: true, force: true })
    },
  }
}

/** A package by its name, as a registry describes it. */
function describe(tarball: string, url: string): readonly [string, object] {
  const manifest = JSON.parse(execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' }))
  const integrity = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`
  const release = { ...manifest, dist: { tarball: `${url}/${basename(tarball)}`, integrity } }
  const { name, version } = manifest
  return [name, { name, 'dist-tags': { latest: version }, versions: { [version]: release } }]
}
