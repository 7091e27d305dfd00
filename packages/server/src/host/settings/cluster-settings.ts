import { hostname } from 'node:os'
import { SettingError } from './setting-error.ts'

/** How a node takes part in a cluster. */
export interface ClusterSettings {
  /** The log: `postgres://user:password@host1,host2/database`. */
  readonly url: string
  readonly nodeName: string
  /** Where other nodes reach this one; null means the address that is listened on. */
  readonly advertise: string | null
  /** After how many milliseconds without a sign of life a node counts as dead. */
  readonly lease: number
  /** How many nodes next to the owner keep a copy of each tenant. */
  readonly followers: number
  /** How long an answer may wait for the log before it is refused, in milliseconds. */
  readonly patience: number
  /** How long a node that stops passes requests on after its tenants have left, in milliseconds. */
  readonly grace: number
  /** After how many changes, and how many bytes of them, a tenant has a new snapshot. */
  readonly snapshotChanges: number
  readonly snapshotBytes: number
}

type Read = (flag: string, variable: string) => string | undefined

export function readClusterSettings(read: Read): ClusterSettings | null {
  const url = read('cluster', 'TILDE_CLUSTER')
  if (url === undefined) return null
  const nodeName = read('node-name', 'TILDE_NODE_NAME') ?? hostname().toLowerCase()
  if (!/^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$/.test(nodeName))
    throw new SettingError(
      `--node-name must have 1 to 63 lower-case letters, digits, dots and hyphens, and begin and end with a letter or digit. ${nodeName} does not.`,
    )
  const advertise = read('advertise', 'TILDE_ADVERTISE')?.replace(/\/+$/, '') ?? null
  if (advertise !== null && !(URL.canParse(advertise) && /^https?:/.test(advertise)))
    throw new SettingError(`--advertise is an address such as http://10.0.0.1:8787, not ${advertise}.`)
  return {
    url,
    nodeName,
    advertise,
    lease: number('TILDE_CLUSTER_LEASE', 6, 0.5, 600) * 1_000,
    followers: number('TILDE_CLUSTER_FOLLOWERS', 1, 0, 10),
    patience: number('TILDE_CLUSTER_PATIENCE', 30, 1, 600) * 1_000,
    grace: number('TILDE_CLUSTER_GRACE', 5, 0, 600) * 1_000,
    snapshotChanges: number('TILDE_CLUSTER_SNAPSHOT_CHANGES', 5_000, 1, 1_000_000),
    snapshotBytes: number('TILDE_CLUSTER_SNAPSHOT_MIB', 64, 1, 10_000) * 1_048_576,
  }

  function number(name: string, otherwise: number, least: number, most: number): number {
    const text = read('', name)
    const value = text === undefined ? otherwise : Number(text)
    if (value >= least && value <= most) return value
    throw new SettingError(`${name} is a number from ${least} to ${most}, not ${text}.`)
  }
}
