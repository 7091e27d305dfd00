import { isPlainObject } from '@tildebase/nouns'

/** An answer without the secrets it shows once: of a key, of a webhook, and of those inside a batch. */
export function withoutSecrets(body: unknown): unknown {
  if (!isPlainObject(body)) return body
  const { secret, results, ...rest } = body
  return {
    ...rest,
    ...(secret !== undefined && !isSecret(body) && { secret }),
    ...(results !== undefined && { results: Array.isArray(results) ? results.map(inResult) : results }),
  }
}

function inResult(result: unknown): unknown {
  return isPlainObject(result) && 'body' in result ? { ...result, body: withoutSecrets(result.body) } : result
}

/** A field called secret of any other type is the tenant's own affair. */
function isSecret({ $type }: { readonly [key: string]: unknown }): boolean {
  return $type === undefined || $type === 'ApiKey' || $type === 'Webhook'
}
