import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readBlocks } from '../docs.ts'
import { KEY } from '../faults/server.ts'
import { startRegistry } from '../packages/registry.ts'
import { type Booted, bootMachine, whyNot } from './booted.ts'

const PAGE = 'docs/operations.md'
const { code } = readBlocks(PAGE, readFileSync(join(import.meta.dirname, '..', '..', PAGE), 'utf8')).find((block) =>
  block.code.includes('systemctl enable'),
)!
const reason = whyNot()
const MINUTES = 60_000

describe.skipIf(reason !== null)(`the systemd unit${reason === null ? '' : `: ${reason}`}`, () => {
  let machine: Booted
  let registry: Awaited<ReturnType<typeof startRegistry>>
  beforeAll(async () => {
    ;[machine, registry] = await Promise.all([bootMachine(), startRegistry()])
  }, 20 * MINUTES)
  afterAll(async () => {
    registry?.stop()
    await machine?.remove()
  })

  /** Runs a command that must succeed. */
  const run = async (...args: Parameters<Booted['run']>): Promise<string> => {
    const { status, text } = await machine.run(...args)
    if (status !== 0) throw new Error(`${args[0]}: exit ${status}\n${text}\n${await journal()}`)
    return text.trim()
  }
  const journal = async () => (await machine.run('journalctl --no-pager --lines=50 --unit=tildebase')).text
  /** Properties of the service. */
  const show = async (...names: string[]): Promise<{ [name: string]: string }> => {
    const lines = await run(`systemctl show tildebase --property=${names.join()}`)
    return Object.fromEntries(lines.split('\n').map((line) => line.split('=')))
  }
  const status = (path: string) =>
    run(`node -e "fetch('http://127.0.0.1:8787${path}').then(({ status }) => console.log(status))"`)

  test('the block of the page starts the service from the published packages', { timeout: 10 * MINUTES }, async () => {
    // The line of the reader.
    const [before, after] = code.split(/ *# TILDE_ROOT_KEY=….*/)
    await run(`${before}\necho TILDE_ROOT_KEY=${KEY} > /etc/tildebase.env${after}`, 'outer', registry.env)

    expect(await status('/readyz')).toBe('200')
    expect(await status('/console/')).toBe('200')
  })

  test('it runs as a user of its own, which can write to its data, a cache and temporary files only', async () => {
    const { UID, MainPID } = await show('UID', 'MainPID')
    const asUser = `nsenter --target ${MainPID} --mount setpriv --reuid ${UID} --regid ${UID} --clear-groups`
    const writable = 'find / -path /proc -prune -o -path /sys -prune -o -type d -writable -print 2> /dev/null || true'
    const folders = (await run(`${asUser} sh -c '${writable}'`)).split('\n')
    const own = /^\/(?:tmp|var\/tmp|var\/lib\/private\/tildebase|var\/cache\/private\/tildebase)(?:\/|$)/

    // The range of systemd for users that exist while their service runs.
    expect(Number(UID)).toBeGreaterThanOrEqual(61_184)
    expect(folders).toContain('/var/lib/private/tildebase/tenants')
    expect(folders.filter((folder) => !own.test(folder))).toEqual([])
    // These two are not those of the other users.
    expect(await run(`${asUser} ls -A /tmp /var/tmp`)).toBe('/tmp:\n\n/var/tmp:')
  })

  test('no request fails in restarts under load', { timeout: 10 * MINUTES }, async () => {
    const load = ['--net', '--target', String(machine.pid), process.execPath, join(import.meta.dirname, 'load.ts')]
    const { stdout } = spawnSync('nsenter', [...load, String(machine.pid)], { encoding: 'utf8' })
    const { requests, faults } = JSON.parse(stdout)

    expect(faults).toEqual([])
    expect(requests).toBeGreaterThan(100)
  })

  test('it starts with the machine', async () => {
    await machine.reboot()

    expect(await status('/readyz')).toBe('200')
  })

  test('it starts again after a crash', async () => {
    const crashes = async () => Number((await show('NRestarts')).NRestarts)
    const before = await crashes()
    await run('systemctl kill --signal=KILL tildebase')

    await expect.poll(crashes).toBe(before + 1)
    expect(await status('/readyz')).toBe('200')
  })

  test('a stop closes every file, and a connection starts it again unless the socket is stopped too', async () => {
    await run('systemctl stop tildebase')
    const ended = await show('Result', 'ExecMainStatus', 'ActiveState')
    const open = await run("find /var/lib/tildebase/tenants/ -name '*-wal'")
    const started = await status('/readyz')
    await run('systemctl stop tildebase.socket tildebase')

    expect(ended).toEqual({ Result: 'success', ExecMainStatus: '0', ActiveState: 'inactive' })
    expect(open).toBe('')
    expect(started).toBe('200')
    await expect(status('/readyz')).rejects.toThrow('ECONNREFUSED')
    expect(await show('Result', 'ActiveState')).toEqual({ Result: 'success', ActiveState: 'inactive' })
  })
})
