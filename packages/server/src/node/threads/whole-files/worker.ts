import { parentPort, workerData } from 'node:worker_threads'
import { loadProgram } from '../../../host/settings/settings.ts'
import { log } from '../../log.ts'
import { noStats } from '../../watch/stats.ts'
import { refusalOf } from '../flows.ts'
import { giveWay } from '../priority.ts'
import { type FileOutcome, type FileProgress, type FileTask, runFileTask } from './tasks.ts'
import type { FileThreadStart } from './thread.ts'

/** Does the tasks of a `FileThread`, one after the other. */
const { settings, secretKey, priority } = workerData as FileThreadStart
const program = await loadProgram(settings.config)
const options = { tenant: { ...program, baseUrl: '', log }, secretKey, stats: noStats() }
giveWay(priority)

const tell = (message: FileOutcome | FileProgress) => parentPort!.postMessage(message)
parentPort!.on('message', async (task: FileTask) => {
  try {
    tell({ result: await runFileTask(options, task, (done, of) => tell({ done, of })) })
  } catch (reason) {
    tell({ refusal: refusalOf(reason) })
  }
})
