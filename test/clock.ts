/** Waits until the clock shows a later millisecond, so that what follows has a later time than what was before. */
export async function nextMillisecond(): Promise<void> {
  for (const before = Date.now(); Date.now() <= before; ) await new Promise((done) => setImmediate(done))
}
