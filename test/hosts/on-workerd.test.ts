import { describe } from 'vitest'
import { FAST, playScenarios } from './play.ts'
import { SERVICE, startWorkerd } from './workerd.ts'

describe('on workerd', () => {
  playScenarios(() => startWorkerd({ ...SERVICE, variables: FAST }))
})
