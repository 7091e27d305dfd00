export type {
  About,
  ConsistencyProof,
  EventOf,
  EventPattern,
  EventProof,
  EventRecord,
  Issue,
  SignedCheckpoint,
  WitnessReport,
} from '@tildebase/nouns'
export type { Ask, AskPage, Asks } from './asks.ts'
export type {
  ChangesetEffect,
  Changesets,
  Conflict,
  ForkOptions,
  ProposedChange,
  ProposedOperation,
  ReviewedChangeset,
} from './changesets.ts'
export type { AsOf, Time } from './entities/query.ts'
export type { EntityTimer, RunStatus, RunStep, WorkflowRun, WorkflowRuns, WorkflowTest } from './entities/runs.ts'
export type { WriteOptions } from './entities/written.ts'
export { type EventFilter, type Events, eventsOf, type ListOptions, type StreamOptions } from './events.ts'
export { filesOf, storeContent } from './files/files.ts'
export { importHistory, type PastChange } from './import/history.ts'
export { type ImportTarget, NDJSON, type RowSource, type SendOptions, sendRows } from './import/send.ts'
export type { RowText, SentRow } from './import/slices.ts'
export { Problem } from './problem.ts'
export type { Proofs } from './proof.ts'
export {
  type DoAnswer,
  type Service,
  type Status,
  type Tildebase,
  type TildebaseOptions,
  type Types,
  tildebase,
  type UndoAnswer,
} from './tildebase.ts'
export type { Page } from './transport/page.ts'
export { isTemporary } from './transport/retry.ts'
export type { Task, TaskOptions } from './transport/task.ts'
export {
  type Auth,
  type Connection,
  type IgnoredName,
  type NothingOutside,
  type Sender,
  type Sending,
  type UnknownName,
  type Warning,
  type Wire,
  type WireOptions,
  warningText,
  wireTo,
} from './transport/wire.ts'
export type { BatchAnswer, BatchBuilder, BatchOptions, Ref, Step } from './types/batch-types.ts'
export type { DownloadOptions, FileLink, LinkOptions, UploadOptions, UploadProgress } from './types/file-types.ts'
export type { Group, Measures } from './types/measure-types.ts'
export type { ProblemCode } from './types/problem-codes.ts'
export type { Clock, SyncAnswer, SyncChange, SyncRequest } from './types/sync-types.ts'
export type {
  Collection,
  Created,
  CreatedMany,
  Difference,
  FindOptions,
  GetOptions,
  LiveOptions,
  Reading,
  Shown,
  Version,
  With,
} from './types/types.ts'
export type { DraftOf, FunnelAnalysis, Made, PatchOf, VerbAnswer } from './types/verb-types.ts'
export { type Delivery, type VerifyOptions, verifyWebhook } from './webhooks.ts'
