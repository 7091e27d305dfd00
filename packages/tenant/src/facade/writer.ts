import type { JsonObject, Noun } from '@tildebase/nouns'
import type { Steps, Stepwise } from '../engine/turns.ts'
import { shownEvents } from '../query/rights/visibility.ts'
import type { ImportCounts, RowImporter } from '../services/bulk/import.ts'
import type { ImportRow } from '../services/bulk/import-row.ts'
import { type Changeset, changesetOf } from '../services/changesets/changeset.ts'
import { isDecision, sealDecision } from '../services/changesets/decision.ts'
import { type Effect, effect } from '../services/changesets/effect.ts'
import { createFromOperations, type GivenChangeset } from '../services/changesets/given.ts'
import { operationsOf, type Operation as ProposedOperation } from '../services/changesets/operations.ts'
import { type Destination, type Proposal, propose } from '../services/changesets/propose.ts'
import { type Review, review } from '../services/changesets/review.ts'
import { staleAt } from '../services/changesets/stale.ts'
import { erase } from '../services/erasure/erase.ts'
import { acceptInvitation, type NewCredential, resetPassword } from '../services/identity/invitations.ts'
import { dropRole, putRole, type Role } from '../services/identity/roles.ts'
import { type CheckedCredentials, connect } from '../services/integrations/verbs.ts'
import { type Choices, putChoices } from '../services/mail/choices.ts'
import { type Inbox, putInbox } from '../services/mail/inbox.ts'
import { readAll } from '../services/mail/notices.ts'
import { type KeptMail, type Received, receive } from '../services/mail/receive.ts'
import { dropHook, putHook } from '../services/scripts/stored.ts'
import { deleteSecret, putSecret } from '../services/secrets.ts'
import { type Synced, sync } from '../services/sync/sync.ts'
import { renameTypeField, retypeTypeField } from '../services/types/migrate-type.ts'
import { dropType, putType } from '../services/types/schema.ts'
import { type UndoResult, undo } from '../services/undo.ts'
import { redeliver } from '../services/webhooks/records.ts'
import { cancelRun, retryRun } from '../services/workflows/manage.ts'
import { answer } from '../services/workflows/steps/ask.ts'
import type { Stored } from '../store/entities.ts'
import type { Progress } from '../write/progress.ts'
import { type Operation, runVerb, runVerbInSteps } from '../write/run-verb.ts'
import { computingOnce } from '../write/verb.ts'
import type { RunResult, VerbResult } from '../write/verb-request.ts'
import type { Write } from '../write/write.ts'
import type { TenantServices } from './create-services.ts'
import { FileWriter } from './files.ts'
import { KeptAnswers } from './kept-answers.ts'
import { TenantReader } from './reader.ts'

/** One write to a tenant with the rights of a grant: whole or not at all, alive as long as its transaction. */
export class TenantWriter {
  readonly #write: Write
  readonly #services: TenantServices
  readonly #context: string

  constructor(services: TenantServices, write: Write, context: string) {
    this.#services = services
    this.#write = write
    this.#context = context
  }

  /** The tenant as this write sees it, its own changes included. */
  get read(): TenantReader {
    return new TenantReader(this.#services, this.#write.grant, this.#write.context.budget, this.#context, false)
  }

  /** Answers kept for Idempotency-Keys, in the same transaction. */
  get answers(): KeptAnswers {
    return new KeptAnswers(this.#write.engine, this.#write.grant)
  }

  /** Uploads in several requests, in the same transaction. */
  get files(): FileWriter {
    return new FileWriter(this.#write.engine, this.#write.grant)
  }

  /** Runs a verb. */
  run(operation: Operation): RunResult {
    return runVerb(this.#write, operation)
  }

  /** Runs a verb that is all of this write, in steps if it has any. */
  runInSteps(operation: Operation): Steps<RunResult> {
    return runVerbInSteps(this.#write, operation)
  }

  /** Runs `work`, and lets computed fields follow once at its end. */
  computingOnce<T>(work: (write: TenantWriter) => Stepwise<T>): Steps<T> {
    return computingOnce(this.#write, (write) => work(new TenantWriter(this.#services, write, this.#context)))
  }

  /** Runs `work` whole or not at all; a failure leaves what was written before it. */
  attempt<T>(work: () => T): T {
    return this.#write.attempt(work)
  }

  /** Runs `work` as if it happened and leaves no trace. Returns its result and the events that it would have written. */
  dryRun<T>(work: () => T): { readonly result: T; readonly events: readonly JsonObject[] } {
    const { engine, grant, transaction } = this.#write
    const { result, events } = transaction.dryRun(work)
    return { result, events: shownEvents(engine, grant, events) }
  }

  /** What this write has written so far, as its grant sees it. */
  get events(): readonly JsonObject[] {
    const { engine, grant, transaction } = this.#write
    return shownEvents(engine, grant, transaction.events)
  }

  /** How much of this write is done. */
  get progress(): Progress {
    return this.#write.context.progress
  }

  /** Tries `work`, takes it back, and keeps the verbs that it asked for in a changeset, for another key to approve. */
  propose<T>(destination: Destination, work: (trial: TenantWriter) => Stepwise<T>): Steps<Proposal<T>> {
    return propose(this.#write, destination, (trial) => work(new TenantWriter(this.#services, trial, this.#context)))
  }

  /** True while a proposal is tried. */
  get isProposal(): boolean {
    return this.#write.context.recorder !== null
  }

  /** Creates a changeset from operations that are given as such. */
  createChangeset(body: { readonly [name: string]: unknown }): Steps<GivenChangeset> {
    return createFromOperations(this.#write, body)
  }

  /** A changeset with its operations. */
  changeset(id: string): { readonly entity: Stored; readonly operations: readonly ProposedOperation[] } {
    const { engine, grant } = this.#write
    const changeset = changesetOf(engine, grant, id)
    return { entity: changeset.entity, operations: operationsOf(engine, changeset) }
  }

  /** A changeset for a reviewer, with its diff against the current state and its conflicts. */
  review(id: string): Steps<Review> {
    return review(this.#write, id)
  }

  /** A changeset with the signature of the page on which a person decides about it, and the time at which it ends undecided. */
  decision(id: string): { readonly changeset: Changeset; readonly signature: string; readonly staleAt: number } {
    const { engine, grant } = this.#write
    const changeset = changesetOf(engine, grant, id)
    const { createdAt } = changeset.entity
    return { changeset, signature: sealDecision(engine, changeset), staleAt: staleAt(engine, createdAt) }
  }

  /** Whether a signature belongs to the page of a changeset. */
  isDecision(id: string, signature: string): boolean {
    return isDecision(this.#write.engine, id, signature)
  }

  /** The metrics, counts and sums that an open changeset would change. */
  effect(id: string): Steps<Effect> {
    return effect(this.#write, id)
  }

  /** The same write, whose events share a correlation. */
  correlated(correlation: string): TenantWriter {
    return new TenantWriter(this.#services, this.#write.within({ correlation }), this.#context)
  }

  newId(prefix: string): string {
    return this.#write.newId(prefix)
  }

  /** Imports a slice of rows. */
  take(importer: RowImporter, rows: readonly ImportRow[]): ImportCounts {
    return importer.take(this.#write, rows)
  }

  /** Imports some of the rows that waited for others; null if none is left. */
  settle(importer: RowImporter): ImportCounts | null {
    return importer.settle(this.#write)
  }

  /** Takes the changes of a replica and answers with those of all others. */
  sync(body: unknown): Steps<Synced> {
    return sync(this.#write, body)
  }

  /** Connects an integration with credentials that its provider accepted; null for a provider without a connector. */
  connectIntegration(id: string, body: unknown, checked: CheckedCredentials | null): RunResult {
    return connect(this.#write, id, body, checked)
  }

  /** Takes back all that shares a correlation. */
  undo(correlation: string): Steps<UndoResult> {
    return undo(this.#write, correlation)
  }

  /** Erases an entity and all its past. */
  erase(noun: Noun, id: string, reason: string | null): VerbResult {
    return erase(this.#write, noun, id, reason)
  }

  putType(name: string, notation: JsonObject): Steps<VerbResult> {
    return putType(this.#write, name, notation)
  }

  /** Renames a field, also in what is stored. Returns the number of changed entities. */
  renameField(type: Noun, from: string, to: string): Steps<number> {
    return renameTypeField(this.#write, type, from, to)
  }

  /** Changes the kind of a field and converts the stored values. Returns the number of changed entities. */
  retypeField(type: Noun, field: string, to: string): Steps<number> {
    return retypeTypeField(this.#write, type, field, to)
  }

  dropType(name: string): Steps<void> {
    return dropType(this.#write, name)
  }

  /** Stores code for a step of a type. True when there was none. */
  putHook(noun: Noun, step: string, code: string): boolean {
    return putHook(this.#write, noun, step, code)
  }

  dropHook(noun: Noun, step: string): void {
    dropHook(this.#write, noun, step)
  }

  /** Runs a workflow again for a run that failed. */
  retryRun(workflow: string, run: string): JsonObject {
    return retryRun(this.#write, workflow, run)
  }

  /** Ends a run that waits or is in progress. */
  cancelRun(workflow: string, run: string): JsonObject {
    return cancelRun(this.#write, workflow, run)
  }

  /** Answers the question of a workflow. */
  answerAsk(id: string, body: unknown): JsonObject {
    return answer(this.#write, id, body)
  }

  /** Keeps a secret for requests of workflows. True when there was none of that name. */
  putSecret(name: string, value: unknown): boolean {
    return putSecret(this.#write, name, value)
  }

  dropSecret(name: string): void {
    deleteSecret(this.#write, name)
  }

  /** Sets the addresses that the tenant receives e-mail at. */
  putInbox(body: unknown): Inbox {
    return putInbox(this.#write, body)
  }

  /** Keeps an e-mail that came in. One that is known changes nothing. */
  receiveMail(mail: KeptMail): Received {
    return receive(this.#write, mail)
  }

  /** Changes which notices a person gets by e-mail. */
  putChoices(user: string, body: unknown): Choices {
    return putChoices(this.#write, user, body)
  }

  /** Notes that a person has read their notices until one of them. */
  readNotices(user: string, until: number): void {
    readAll(this.#write, user, until)
  }

  /** Sends a person a link to set a new password. */
  resetPassword(user: string): void {
    resetPassword(this.#write, user)
  }

  /** Defines a role, or changes it. */
  putRole(name: string, body: unknown): { readonly role: Role; readonly isNew: boolean } {
    return putRole(this.#write, name, body)
  }

  dropRole(name: string): void {
    dropRole(this.#write, name)
  }

  /** Takes an invitation and returns its person, who is active now and signs in with this credential. */
  acceptInvitation(secret: string, credential: NewCredential): string {
    return acceptInvitation(this.#write, secret, credential)
  }

  /** Queues one delivery of a webhook again, or all that failed. Returns how many. */
  redeliver(webhook: string, delivery: string | null): number {
    return redeliver(this.#write, webhook, delivery)
  }
}
