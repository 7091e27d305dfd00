/** What requests cost, as measured: milliseconds of computing, rows read and rows written. */
export interface Measured {
  readonly cpu: number
  readonly read: number
  readonly written: number
}

/** What a tenant does in a month. */
const WRITES = 3_000
const READS = 15_000
const BACKUPS = 1_800
const GIGABYTES = 0.01
/** How long an object is awake for a request, in seconds, with 128 MB. */
const AWAKE = 0.02
const MEMORY = 0.128

/** Prices of the paid plan in dollars, with what $5 a month include. As known in November 2026: check them at developers.cloudflare.com. */
const PRICES = {
  'requests to the Worker': { per: 1e6, price: 0.3, included: 10e6 },
  'milliseconds of computing': { per: 1e6, price: 0.02, included: 30e6 },
  'requests to objects, alarms included': { per: 1e6, price: 0.15, included: 1e6 },
  'gigabyte-seconds of objects': { per: 1e6, price: 12.5, included: 400e3 },
  'rows read': { per: 1e6, price: 0.001, included: 25e9 },
  'rows written': { per: 1e6, price: 1, included: 50e6 },
  'gigabytes in objects': { per: 1, price: 0.2, included: 5 },
  'gigabytes in R2': { per: 1, price: 0.015, included: 10 },
  'writes to R2': { per: 1e6, price: 4.5, included: 1e6 },
} as const

type Item = keyof typeof PRICES

/** What so many tenants cost in a month, item by item, in dollars. */
export function monthlyCosts(
  tenants: number,
  write: Measured,
  read: Measured,
): { readonly [item in Item | 'all']: number } {
  const requests = WRITES + READS
  // An alarm follows a write for its indexes, and a backup.
  const objects = requests + WRITES + BACKUPS
  const used: { readonly [item in Item]: number } = {
    'requests to the Worker': requests,
    'milliseconds of computing': WRITES * write.cpu + READS * read.cpu,
    'requests to objects, alarms included': objects,
    'gigabyte-seconds of objects': objects * AWAKE * MEMORY,
    'rows read': WRITES * write.read + READS * read.read,
    'rows written': WRITES * write.written + READS * read.written + BACKUPS * 2,
    'gigabytes in objects': GIGABYTES,
    'gigabytes in R2': GIGABYTES,
    'writes to R2': BACKUPS * 1.1,
  }
  const cost = (item: Item) => {
    const { per, price, included } = PRICES[item]
    return (Math.max(used[item] * tenants - included, 0) / per) * price
  }
  const items = (Object.keys(PRICES) as Item[]).map((item) => [item, cost(item)] as const)
  const all = items.reduce((sum, [, dollars]) => sum + dollars, 5)
  return { ...Object.fromEntries(items), all } as { readonly [item in Item | 'all']: number }
}
