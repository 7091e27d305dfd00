import { OPERATOR } from '@tildebase/tenant'
import { expect, test } from 'vitest'
import { resumeRuns } from '../../packages/tenant/src/store/automation/integrations.ts'
import { openAcme, type TestTenant } from './fixture.ts'

/** Counts the commits of a tenant from now on. */
function countCommits({ sql }: TestTenant): () => number {
  const { transaction, run } = sql
  let [count, depth] = [0, 0]
  sql.transaction = (work, way) => {
    if (depth++ === 0) count++
    try {
      return transaction.call(sql, work as () => never, way) as never
    } finally {
      depth--
    }
  }
  sql.run = (text, ...values) => {
    if (depth === 0) count++
    run.call(sql, text, ...values)
  }
  return () => count
}

test('a tenant without interrupted runs of integrations is opened without a commit for them', () => {
  const { tenant } = openAcme()
  const commits = countCommits(tenant)

  resumeRuns(tenant.sql, 1_000)

  expect(commits()).toBe(0)
})

test('the past and the words of some events are indexed in one commit', () => {
  const { tenant } = openAcme()
  tenant.run(OPERATOR, { type: 'Contact', verb: 'create', data: { name: 'Ada' } })
  const commits = countCommits(tenant)

  const isDone = tenant.services.indexing.runSlice()
  const first = commits()
  tenant.services.indexing.runSlice()

  expect(isDone).toBe(true)
  expect(first).toBe(1)
  expect(commits()).toBe(1)
})
