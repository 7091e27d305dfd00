const EVERY_MS = 100
const BAR = 24

/** What is counted. */
type Unit = 'bytes' | 'events' | 'pages'

export interface ProgressBar {
  at(done: number): void
  end(): void
}

/** A line with progress, rate and remaining time; only on a terminal. */
export function progressBar(stderr: NodeJS.WriteStream, size: number | null, unit: Unit = 'bytes'): ProgressBar {
  if (!stderr.isTTY) return { at() {}, end() {} }
  const start = performance.now()
  let shown = 0
  return {
    at(done) {
      const now = performance.now()
      if (now - shown < EVERY_MS) return
      shown = now
      stderr.write(`\r\x1b[K${progressText(done, size, now - start, unit)}`)
    },
    end: () => void stderr.write('\r\x1b[K'),
  }
}

/** The progress: `████░░░░  50%  1.0 MB/s  2 s left`. */
export function progressText(done: number, size: number | null, ms: number, unit: Unit = 'bytes'): string {
  const rate = done / Math.max(ms, 1)
  const speed = `${amount(rate * 1_000, unit)}/s`
  if (size === null || size === 0) return `${amount(done, unit)}  ${speed}`
  const part = Math.min(done / size, 1)
  const full = Math.round(part * BAR)
  const left = Math.ceil((size - done) / Math.max(rate, 0.001) / 1_000)
  return `${'█'.repeat(full)}${'░'.repeat(BAR - full)}  ${Math.floor(part * 100)}%  ${speed}  ${left} s left`
}

function amount(count: number, unit: Unit): string {
  return unit === 'bytes' ? `${(count / 1_000_000).toFixed(1)} MB` : `${Math.round(count)} ${unit}`
}
