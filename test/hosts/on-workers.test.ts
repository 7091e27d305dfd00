import { describe } from 'vitest'
import { testHost } from '../host.ts'
import { FAST, playScenarios } from './play.ts'

// The scenarios are also played in one thread, where their answers are compared with the OpenAPI document.
describe('on Node with two workers', () => {
  playScenarios(() => testHost(FAST, { workers: '2' }))
})
