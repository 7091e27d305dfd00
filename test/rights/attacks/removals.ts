/** A check, how it is removed, and the attacks that must then succeed: of the generator, or of another test. */
interface Removal {
  readonly check: string
  readonly file: string
  readonly from: string
  readonly to: string
  readonly attacks: string
  readonly test: string
}

const GENERATOR = 'test/rights/generator.test.ts'

const removal = (
  check: string,
  file: string,
  from: string,
  to: string,
  attacks: string,
  test = GENERATOR,
): Removal => ({ check, file, from, to, attacks, test })

/** The checks that the control removes, one at a time. */
export const REMOVALS: readonly Removal[] = [
  removal(
    'what is stored acts with its author’s grant',
    'authorship/stored.ts',
    '{ actor: stored.thing.actor, ...grant, author }',
    `{ actor: stored.thing.actor, scopes: [{ action: 'admin', area: 'all' }], rows: {}, author }`,
    'workflow: code for write Contact',
  ),
  removal(
    'storing needs what the thing reaches',
    'authorship/reach.ts',
    'if (missing === undefined) return',
    'if (missing === undefined || reach.length > 0) return',
    'computed: a copy|timer: a condition|key rows|role rows|consent rows|migration: a change',
  ),
  removal(
    'an author is for one declaration only',
    'authorship/stored.ts',
    'const text = JSON.stringify(form)',
    `void form\n  form = 'one'\n  const text = JSON.stringify(form)`,
    'workflow: code for write Contact|workflow: a step for write ApiKey|computed: a relation|timer: the verb behind',
  ),
  removal(
    'row filters cover the types behind relations',
    'authorship/reach.ts',
    '!(allRows && Object.hasOwn(grant.rows, noun.name))',
    'allRows !== null',
    'key rows|role rows|consent rows',
  ),
  removal(
    'hooks change service types only as far as their author',
    'write/before-hooks.ts',
    'if (isServiceType(noun.name) && !mayActFor(write, author, noun)) return {}',
    'void mayActFor',
    'hook: BEFORE hook that changes what an administrator stores|hook: BEFORE hook that gives',
  ),
  removal(
    'changing a webhook needs its rights',
    'services/webhooks/author.ts',
    '  if (!current) return\n',
    '  if (current) return\n',
    'webhook: the webhook of an administrator',
  ),
  removal(
    'webhooks receive what their author may read',
    'services/webhooks/subscription.ts',
    'const { declaration: data, grant } = act(stored)',
    `const { declaration: data, grant: own } = act(stored)
  const grant = { ...own, scopes: [{ action: 'admin' as const, area: 'all' }], rows: {} }`,
    'webhook: events of a type of others',
  ),
  removal(
    'log records are shown by type',
    'query/rights/visibility.ts',
    'const answer = isWanted && mayReadEvents(engine, grant, type)',
    'const answer = isWanted || mayReadEvents(engine, grant, type)',
    'workflow: a pattern for all|webhook: events of a type of others',
  ),
  removal(
    'new relations need read on their target',
    'services/types/schema.ts',
    '...[...targets].flatMap((target) => nouns.get(target) ?? []).map(readsAll),',
    '',
    'key rows',
  ),
  removal(
    'changing verbs needs write on their type',
    'services/types/schema.ts',
    'before && actsOf(before) !== actsOf(after)',
    'before && actsOf(before) === null',
    'guard: a verb',
  ),
  removal(
    'a mail server needs an administrator',
    'services/integrations/author.ts',
    'isMail ? [...reach, changes(',
    '!isMail ? [...reach, changes(',
    'mail server',
  ),
  removal(
    'e-mail goes through a server as it was connected',
    'services/mail/transport.ts',
    'const stored = authoredIntegration(engine, id)',
    `const { data } = engine.sql.rows('SELECT data FROM states WHERE id = ?', id).map(([data]) => ({ data }))[0]!
    const { provider, apiBaseUrl, from } = JSON.parse(data)
    if (provider === 'smtp') return { id, declaration: { mail: 'smtp', address: apiBaseUrl, from: from ?? null } }
    const stored = authoredIntegration(engine, id)`,
    'mail server',
  ),
  removal(
    'questions are for the person who is asked',
    'services/workflows/steps/ask.ts',
    ': addressesOf(engine, person).includes(of)',
    ': of !== null',
    'ask: an answer',
  ),
  removal(
    'a person answers, and no key or agent',
    'services/workflows/steps/ask.ts',
    '  demandAnswerer(grant)\n',
    '  void demandAnswerer\n',
    'ask: an answer',
  ),
  removal(
    'titles of questions are for readers of their values',
    'services/workflows/steps/ask.ts',
    'title: isOpen ? row.title : null',
    'title: row.title',
    'ask: a title',
  ),
  removal(
    'a workflow with a secret needs an administrator',
    'services/workflows/author.ts',
    'if (secretsIn(behaviour.steps).length > 0)',
    'if (secretsIn(behaviour.steps).length > 99)',
    'secret: a request',
  ),
  removal(
    'secrets are taken out of answers',
    'services/workflows/steps/redaction.ts',
    'if (marks[i] === 0) marks[i] = secret',
    'if (marks[i] === 1 && secret === 0) marks[i] = secret',
    'secret: an answer',
  ),
  removal(
    'filters of waits read what the author may read',
    'authorship/reach.ts',
    `demandReach(author, 'filter', reachOfFilter(engine, filter))`,
    'void author',
    'subscription: a filter',
  ),
  removal(
    'subscriptions have the rights of now',
    'services/event-subscriptions/holder.ts',
    'return keyGrant(engine, actor)',
    'return keyGrant(engine, actor) && OPERATOR',
    'subscription',
  ),
  removal(
    'links have the rights of now',
    'services/files/links.ts',
    'return keys?.renew({ actor, scopes: [], rows: {} }) ?? null',
    'return keys && OPERATOR',
    'file link',
  ),
  removal(
    'a hash opens no content',
    'write/files.ts',
    `!may(grant, 'read', noun)) continue`,
    `noun.name === '') continue`,
    'upload',
  ),
  removal(
    'visible rows are of a type that the reader may read',
    'query/rights/visible-entity.ts',
    `if (!may(grant, 'read', noun)) return NONE`,
    'void may',
    'notice',
  ),
  removal(
    'changesets are shown by what they contain',
    'query/rights/changeset-rows.ts',
    '{ types: { $nin: unreadable } },',
    '',
    'changeset',
  ),
  removal(
    'an endpoint with a secret needs an administrator',
    'services/agents/author.ts',
    `if (secretsIn(form).length > 0) demandArea(`,
    `if (secretsIn(form).length > 99) demandArea(`,
    'agent: a secret',
  ),
  removal(
    'changing an endpoint needs the rights of its author',
    'services/agents/verbs.ts',
    'if (known !== null) demandCovers(',
    'if (known === undefined) demandCovers(',
    'agent: a secret',
  ),
  removal(
    'an integration needs write on the types that it fills',
    'services/integrations/author.ts',
    ': reach)\n',
    ': [])\n',
    'as far as its author may write',
    'test/past/integration.test.ts',
  ),
  removal(
    'starting an integration needs the rights of its author',
    'services/integrations/author.ts',
    `  demandCovers(engine, grant, authoredIntegration(engine, id), 'Integration')`,
    '  void [engine, grant, id]',
    'integration',
  ),
  removal(
    'scheduling an integration needs the rights of its author',
    'services/integrations/author.ts',
    `if (stored !== null) demandCovers(engine, grant, stored, 'Integration')`,
    'void [grant, stored]',
    'integration',
  ),
  removal(
    'a name keeps no content that its writer may not read',
    'services/files/contents.ts',
    'if (!isField(sql, hash) || mayUse(write, hash)) saveUse(',
    'if (isField(sql, hash) || mayUse(write, hash)) saveUse(',
    'does not outlive its erasure',
    'test/rights/hostile.test.ts',
  ),
]
