/** Tests that pack, install, build, kill or measure for minutes. They run with `npm run test:slow`, and when they are named. */
export const SLOW = [
  'test/bare/**',
  'test/packages/**',
  'test/site.test.ts',
  'test/client/python.test.ts',
  'test/cluster/model/**',
  'test/cli/{backup,backup-all}.test.ts',
  'test/cluster/short/**',
  'test/agents/{conformance,inspector}.test.ts',
  'test/bulk/memory.test.ts',
  'test/console/{days,looks,many}.browser.test.ts',
  'test/content/{bucket,bucket-backup,collection-attack,kill,r2,real-bucket,stream}.test.ts',
  'test/fairness/{gateway,large-values,whole-files}.test.ts',
  'test/faults/{automation,disk,many-stops,power,quarantine,restarts,restore,simulation,slices,stops,task-kills}.test.ts',
  'test/hosts/{durable,endless,heap,long-import,miniflare}.test.ts',
  'test/mail/{debian,flood}.test.ts',
  'test/openapi-{prism,scenarios,spectral}.test.ts',
  'test/past/{demo,kill}.test.ts',
  'test/proof/{kill,shown-values}.test.ts',
  'test/tasks/clients.test.ts',
  'test/tutorials/**',
]

/** Tests in this process that start threads, wait for limits or try all there is: too long for `npm run test:fast`. */
export const THREADS = [
  'test/agents/{do,hosts}.test.ts',
  'test/automation/hosts.test.ts',
  'test/changesets/sees.test.ts',
  'test/content/operator.test.ts',
  'test/fairness/quota.test.ts',
  'test/faults/flips.test.ts',
  'test/proof/tree.test.ts',
  'test/rest/tasks.test.ts',
  'test/rights/walk.test.ts',
  'test/tasks/tasks.test.ts',
  'packages/server/src/workerd/isolates/strip.test.ts',
]

/** Tests of `npm test` that take longest, the longest first. */
export const LONGEST = [
  'test/docs.test.ts',
  'test/rights/generator.test.ts',
  'test/rights/walk.test.ts',
  'test/cli/commands.test.ts',
  'test/console/features.browser.test.ts',
  'test/hosts/script.test.ts',
  'test/cli/schema.test.ts',
  'test/console/services.browser.test.ts',
  'test/people/attacks.test.ts',
  'test/tasks/tasks.test.ts',
  'test/idempotency.test.ts',
  'test/hosts/on-workers.test.ts',
  'packages/server/src/node/threads/script/soundness.test.ts',
  'test/hosts/on-workerd.test.ts',
  'test/faults/crash.test.ts',
  'test/past/connectors.test.ts',
  'test/layers.test.ts',
]
