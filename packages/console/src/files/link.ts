import type { FileLink } from '@tildebase/client'
import type { FileValue } from '@tildebase/nouns'
import { useEffect, useState } from 'preact/hooks'
import { addressOf, request } from '../service/service.ts'
import type { FilePlace } from './state.ts'

/** A file of a field: `n` is its place. */
export interface OneFile extends FilePlace {
  readonly n: number
  readonly value: FileValue
}

/** The path of a file below the tenant. */
export function pathOf({ type, id, field, list, n }: OneFile): string {
  return `/${type}/${encodeURIComponent(id)}/${field}${list ? `/${n}` : ''}`
}

/** A link that shows a file for a while without a key: images, players and downloads cannot send one. */
export function linkTo(file: OneFile, expires: string): Promise<FileLink> {
  const query = { asOf: file.asOf ?? undefined }
  return request('POST', `${pathOf(file)}/link`, { query, body: { expires } })
}

export interface Address {
  /** The address in this console; null until it is known. */
  readonly url: string | null
  readonly error: Error | null
}

/** The address of a file for an hour. It stays the same while the file does, so that a player continues. */
export function useAddress(file: OneFile): Address {
  const key = `${pathOf(file)} ${file.asOf} ${file.value.hash}`
  const [found, setFound] = useState<Address & { readonly key: string }>({ key: '', url: null, error: null })
  useEffect(() => {
    let isWanted = true
    const set = (url: string | null, error: Error | null) => isWanted && setFound({ key, url, error })
    linkTo(file, '1h').then(
      // The service may call itself by another name than the browser does.
      ({ url }) => set(addressOf(`/files/${url.split('/').at(-1)}`), null),
      (reason) => set(null, reason as Error),
    )
    return () => {
      isWanted = false
    }
  }, [key])
  return found.key === key ? found : { url: null, error: null }
}
