import type { Route } from '../call.ts'
import { PROPOSE } from '../describe/description.ts'
import { type Parameter, parameterNames } from '../describe/parameters.ts'

/** What of a route decides which names its requests have. */
export type Place = Pick<Route, 'method' | 'path' | 'params' | 'mode'>

/** The parameters that a route takes. */
export function parametersOf(route: Place): readonly string[] {
  return parameterNames(described(route).params ?? [])
}

/** A route with all parameters that it takes, also those that all of its kind take. */
export function described<R extends Place>(route: R): R {
  const { params = [], mode } = route
  return { ...route, params: [...new Set([...params, ...(mode === 'write' ? TRIALS : []), 'strict'])] }
}

/** How every write can be tried, or proposed. */
const TRIALS: readonly Parameter[] = ['dryRun', ...PROPOSE]
