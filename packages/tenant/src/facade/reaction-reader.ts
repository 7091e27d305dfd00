import type { JsonObject, Noun } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import type { Grant } from '../grant/grant.ts'
import { type Choices, choicesOf } from '../services/mail/choices.ts'
import { type Inbox, shownInbox, takeAddresses } from '../services/mail/inbox.ts'
import { type NoticeQuestion, noticesFor } from '../services/mail/notices.ts'
import { type HookView, hookAt, hooksOf } from '../services/scripts/stored.ts'
import { type SecretQuestion, secretsOf, shownSecret } from '../services/secrets.ts'
import { timersOf } from '../services/timers/view.ts'
import { type DeliveryQuestion, deliveriesOf } from '../services/webhooks/records.ts'
import type { Runner } from '../services/workflows/author.ts'
import { type AskQuestion, asksOf, askWith } from '../services/workflows/steps/ask.ts'
import { type RunQuestion, runsOf, runWithId } from '../services/workflows/view.ts'

/** What reacts to events and times, as a grant may see it: hooks, webhooks, timers and workflows. */
export class ReactionReader {
  readonly grant: Grant
  readonly #engine: Engine

  constructor(engine: Engine, grant: Grant) {
    this.#engine = engine
    this.grant = grant
  }

  hooks(noun: Noun): HookView[] {
    return hooksOf(this.#engine, this.grant, noun)
  }

  hook(noun: Noun, step: string): HookView {
    return hookAt(this.#engine, this.grant, noun, step)
  }

  deliveries(webhook: string, question: DeliveryQuestion): JsonObject {
    return deliveriesOf(this.#engine, this.grant, webhook, question)
  }

  /** What is due next for an entity. */
  timers(noun: Noun, id: string): JsonObject {
    return timersOf(this.#engine, this.grant, noun, id)
  }

  /** The runs of a workflow, or the calls of an agent, newest first. */
  runs(type: Runner, owner: string, question: RunQuestion): JsonObject {
    return runsOf(this.#engine, this.grant, owner, question, type)
  }

  /** One of them with its steps. */
  run(type: Runner, owner: string, id: string): JsonObject {
    return runWithId(this.#engine, this.grant, owner, id, type)
  }

  /** Questions of workflows that wait for the person, or for the person's role. */
  asks(question: AskQuestion): JsonObject {
    return asksOf(this.#engine, this.grant, question)
  }

  ask(id: string): JsonObject {
    return askWith(this.#engine, this.grant, id)
  }

  /** The addresses that the tenant receives e-mail at. */
  inbox(): Inbox {
    return shownInbox(this.#engine, this.grant)
  }

  /** Takes the addresses of an inbox that is about to be set. */
  takeAddresses(inbox: unknown): Promise<void> {
    return takeAddresses(this.#engine, this.grant, inbox)
  }

  /** Which notices a person gets by e-mail, and when. */
  choices(user: string): Choices {
    return choicesOf(this.#engine, user)
  }

  /** What a person is to know of, newest first. */
  notices(user: string, question: NoticeQuestion): JsonObject {
    return noticesFor(this.#engine, user, question)
  }

  /** The names of the tenant's secrets. */
  secrets(question: SecretQuestion): JsonObject {
    return secretsOf(this.#engine, this.grant, question)
  }

  /** The same about one of them, or null. */
  secret(name: string): JsonObject | null {
    return shownSecret(this.#engine, this.grant, name)
  }
}
