import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSql } from '../../packages/server/src/node/sqlite/sql.ts'
import { SQL_CONTRACT } from '../../packages/tenant/src/sql.contract.ts'
import { startWorkerd, type Workerd } from './workerd.ts'

const CASES = SQL_CONTRACT.map(({ says }, index) => [says, index] as const)

describe('on Node', () => {
  test.each(CASES)('the Sql port: %s', (_, index) => {
    const sql = openSql(':memory:', { limits: true })

    expect(() => SQL_CONTRACT[index]!.holds(sql)).not.toThrow()
    sql.close()
  })
})

describe('on workerd', () => {
  let workerd: Workerd

  beforeAll(async () => {
    workerd = await startWorkerd({ entry: 'test/hosts/contract-worker.ts', objects: { OBJECTS: 'Contract' } })
  })
  afterAll(() => workerd?.stop())

  test.each(CASES)('the Sql port: %s', async (_, index) => {
    expect(await (await fetch(`${workerd.url}/durable/${index}`)).text()).toBe('holds')
  })

  test.each(CASES)('the Sql port of a tenant without events: %s', async (_, index) => {
    expect(await (await fetch(`${workerd.url}/unwritten/${index}`)).text()).toBe('holds')
  })
})
