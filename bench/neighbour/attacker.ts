import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { ATTACKS } from './attacks.ts'
import { type Place, sceneOf } from './scene.ts'

/** Runs one attack in its own thread, which leaves the processors to the service and to its neighbour. */
export interface AttackStart {
  readonly attack: string
  /** Whether its tenant was prepared before. */
  readonly isPrepared?: boolean
  readonly place: Place
}

const { attack: name, isPrepared = false, place } = workerData as AttackStart
const attack = ATTACKS.find((one) => one.name === name)!
const end = new AbortController()
const scene = sceneOf(place, end.signal)

setPriority(constants.priority.PRIORITY_LOW)
if (!isPrepared) await attack.prepare?.(scene)
parentPort!.postMessage('prepared')
parentPort!.on('message', (message: 'run' | 'stop') => {
  if (message === 'stop') end.abort()
  else void attack.run(scene).finally(() => parentPort!.close())
})
