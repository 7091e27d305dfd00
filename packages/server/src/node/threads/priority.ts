import { getPriority, setPriority } from 'node:os'

/** Lets other threads go before this one: requests come first. `priority` is as `nice` means it. */
export function giveWay(priority: number): void {
  // On Linux a thread has its own priority; elsewhere it would be that of the whole process. A process under nice can have a
  // lower one already, and only root may raise it.
  if (process.platform === 'linux' && getPriority() < priority) setPriority(priority)
}
