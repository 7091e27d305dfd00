import type { FileValue } from '@tildebase/nouns'
import { useEffect, useState } from 'preact/hooks'
import { send } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { EmptyState, Failure, Skeleton } from '../ui/states.tsx'
import { bytesText } from '../values/format.ts'
import { type OneFile, pathOf, useAddress } from './link.ts'

type Kind = 'image' | 'pdf' | 'audio' | 'video' | 'text' | 'none'

const IMAGE = /^image\/(png|jpeg|gif|webp|avif|bmp|apng|x-icon|vnd\.microsoft\.icon)$/
const TEXT_TYPE = /^text\/|[/+](json|xml|yaml|toml|javascript|typescript|x-sh|sql|x-ndjson|svg\+xml)$/
const TEXT_NAME =
  /\.(txt|md|csv|tsv|json|ndjson|log|ya?ml|toml|ini|xml|html?|svg|css|[cm]?[jt]sx?|py|sh|sql|eml|ics|vcf)$/i
/** So much of a text is shown. */
const MOST_TEXT = 262_144

/** How a file is shown. What could run in a page, such as HTML and SVG, is shown as text. */
export function kindOf({ type, name }: Pick<FileValue, 'type' | 'name'>): Kind {
  if (IMAGE.test(type)) return 'image'
  if (type === 'application/pdf') return 'pdf'
  if (/^(audio|video)\/(?!.*xml)/.test(type)) return type.slice(0, 5) as 'audio' | 'video'
  const isUnknown = type === 'application/octet-stream'
  return TEXT_TYPE.test(type) || (isUnknown && TEXT_NAME.test(name)) ? 'text' : 'none'
}

/** The content of a file. */
export function Preview({ file }: { file: OneFile }) {
  const kind = kindOf(file.value)
  if (kind === 'text') return <TextPreview file={file} />
  if (kind === 'none') return <EmptyState icon="clip" title={t('There is no preview of this kind of file.')} />
  return <Shown key={`${file.value.hash} ${file.asOf}`} file={file} kind={kind} />
}

function Shown({ file, kind }: { file: OneFile; kind: Exclude<Kind, 'text' | 'none'> }) {
  const { url, error } = useAddress(file)
  const [isBroken, setBroken] = useState(false)
  const { name } = file.value
  if (error) return <Failure error={error} />
  if (url === null) return <Skeleton rows={6} />
  const src = `${url}?inline=true`
  const onError = () => setBroken(true)
  if (isBroken)
    return <EmptyState icon="clip" title={t('This browser cannot show the file. Download it to open it.')} />
  switch (kind) {
    case 'image':
      return <img src={src} alt={name} onError={onError} />
    case 'audio':
      // biome-ignore lint/a11y/useMediaCaption: files of users have no captions
      return <audio src={src} controls preload="metadata" aria-label={name} onError={onError} />
    case 'video':
      // biome-ignore lint/a11y/useMediaCaption: files of users have no captions
      return <video src={src} controls preload="metadata" aria-label={name} onError={onError} />
    case 'pdf':
      return (
        <object data={src} type="application/pdf" aria-label={name}>
          <p>{t('This browser does not show PDF here. Download the file to read it.')}</p>
        </object>
      )
  }
}

/** The beginning of a text, as text only. */
function TextPreview({ file }: { file: OneFile }) {
  const [text, setText] = useState<string | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const { size, hash, name } = file.value
  const isWhole = size <= MOST_TEXT
  useEffect(() => {
    const leaving = new AbortController()
    setText(null)
    setError(null)
    beginning(file, leaving.signal).then(setText, (reason) => leaving.signal.aborted || setError(reason as Error))
    return () => leaving.abort()
  }, [hash, file.asOf])
  if (error) return <Failure error={error} />
  if (text === null) return <Skeleton rows={6} />
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long text is scrolled by the keyboard */}
      <section class="viewer-text" tabIndex={0} aria-label={name}>
        <pre>{text}</pre>
      </section>
      {!isWhole && <p class="hint">{t('The first {} are shown.', bytesText(MOST_TEXT))}</p>}
    </>
  )
}

async function beginning(file: OneFile, signal: AbortSignal): Promise<string> {
  if (file.value.size === 0) return ''
  const answer = await send('GET', pathOf(file), {
    query: { asOf: file.asOf ?? undefined },
    headers: { accept: '*/*', range: `bytes=0-${MOST_TEXT - 1}` },
    signal,
  })
  return new TextDecoder().decode(await answer.arrayBuffer())
}
