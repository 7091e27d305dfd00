import type { Engine } from '../../engine/engine.ts'
import { extendTree, Tree } from './tree.ts'

/** The tree over the whole log. What is not in it yet is added first, in slices with turns for others in between. */
export async function wholeTree(engine: Engine): Promise<Tree> {
  const { soon = queueMicrotask } = engine.ports
  while (!extendTree(engine)) await new Promise<void>((done) => soon(done))
  return new Tree(engine, engine.head.seq)
}
