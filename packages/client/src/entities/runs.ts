import type { Json, JsonObject } from '@tildebase/nouns'
import type { Page } from '../transport/page.ts'

/** A verb that will run on an entity at the time of a field. */
export interface EntityTimer {
  readonly name: string
  readonly at: string
  /** The field that holds the time. */
  readonly field: string
  /** The verb. */
  readonly run: string
  readonly from?: readonly string[]
  readonly when?: JsonObject
  readonly status: 'Waiting' | 'Failed'
  /** Why the verb was refused, or null. */
  readonly error: string | null
}

export type RunStatus = 'Waiting' | 'Running' | 'Succeeded' | 'Failed' | 'Cancelled'

/** One run of a workflow. Lists leave its steps out. */
export interface WorkflowRun {
  readonly id: string
  readonly workflow: string
  readonly status: RunStatus
  readonly trigger: 'event' | 'schedule' | 'manual' | 'retry'
  readonly event: { readonly id: string; readonly type: string; readonly seq: number } | null
  readonly scheduledAt: string | null
  readonly startedAt: string | null
  readonly endedAt: string | null
  /** Milliseconds. */
  readonly duration: number | null
  readonly nextAttemptAt: string | null
  readonly error: string | null
  readonly retryOf: string | null
  readonly retriedBy: string | null
  readonly steps?: readonly RunStep[]
}

/** A step of a run. Input, output and error are absent for keys that may not read all that the workflow reads. */
export interface RunStep {
  readonly step: number
  readonly type?: string
  readonly verb?: string
  readonly code?: string | null
  readonly fallback?: boolean
  readonly status: 'Pending' | 'Running' | 'Waiting' | 'Succeeded' | 'Failed' | 'Skipped'
  readonly tries: number
  readonly startedAt: string | null
  readonly endedAt: string | null
  readonly duration: number | null
  readonly input?: Json
  readonly output?: Json
  readonly error?: string | null
  readonly hidden?: boolean
}

/** What a workflow would do for an event. */
export interface WorkflowTest {
  readonly dryRun: true
  /** Whether the workflow would run for the event. */
  readonly matches: boolean
  readonly status: 'Succeeded' | 'Failed'
  readonly event: JsonObject
  readonly steps: readonly Pick<RunStep, 'step' | 'type' | 'verb' | 'code' | 'status' | 'input' | 'output' | 'error'>[]
  /** The events that it would write. */
  readonly events: readonly JsonObject[]
}

/** What a Workflow can be asked in addition to its verbs. */
export interface WorkflowRuns {
  /** Its runs, newest first. */
  runs(
    id: string,
    options?: { readonly status?: RunStatus; readonly limit?: number; readonly cursor?: string | null },
  ): Promise<Page<WorkflowRun>>
  /** One run with its steps. */
  run(id: string, run: string): Promise<WorkflowRun & { readonly steps: readonly RunStep[] }>
  /** Runs a failed run again, from the step that failed. */
  retryRun(id: string, run: string): Promise<WorkflowRun>
  /** Ends a run that waits or is in progress. */
  cancelRun(id: string, run: string): Promise<WorkflowRun>
  /** What the workflow, with changes to try, would do for a past event, by its id, or for an event that is made up. */
  test(id: string, on?: { readonly event?: string | JsonObject; readonly workflow?: JsonObject }): Promise<WorkflowTest>
}
