export * from './filter.ts'
export * from './noun.ts'
export * from './problem.ts'
