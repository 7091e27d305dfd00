import { bytesText } from '../values/format.ts'
import '../../style/pages/viewer.css'
import { useKeys } from '../keyboard.ts'
import { t } from '../texts/text.ts'
import { say, sayError } from '../toast.ts'
import { Act } from '../ui/basics.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { linkTo, type OneFile, useAddress } from './link.ts'
import { Preview } from './preview.tsx'
import { type ShownFile, shown } from './state.ts'
import { Versions } from './versions.tsx'

const SHARED_FOR = '24h'

/** A window with the content of a file, its versions, and the other files of its field. */
export function Viewer() {
  const file = shown.value!
  const value = file.values[file.at]!
  return (
    <Dialog title={value.name} size="viewer" onClose={() => (shown.value = null)}>
      <Content file={file} one={{ ...file, n: file.at, value }} />
    </Dialog>
  )
}

function Content({ file, one }: { file: ShownFile; one: OneFile }) {
  const { values, at } = file
  const { url } = useAddress(one)
  const turn = (step: number) => {
    const next = at + step
    if (next >= 0 && next < values.length) shown.value = { ...file, at: next }
  }
  // In a player and in a text the arrows move in the content.
  const isInContent = () => document.activeElement?.closest('audio, video, object, .viewer-text') != null
  useKeys({ ArrowLeft: () => isInContent() || turn(-1), ArrowRight: () => isInContent() || turn(1) })
  return (
    <>
      <div class="viewer-grid">
        <div class="viewer-content" data-kind={one.value.type}>
          <Preview file={one} />
        </div>
        <Versions file={file} />
      </div>
      <footer>
        {url === null ? (
          <button type="button" class="primary" disabled>
            <Icon name="download" /> {t('Download')}
          </button>
        ) : (
          <a class="button primary" href={url} download={one.value.name}>
            <Icon name="download" /> {t('Download')}
          </a>
        )}
        <Act onRun={() => share(one)}>{t('Copy a link for a day')}</Act>
        {values.length > 1 && (
          <>
            <button
              type="button"
              class="icon-only"
              aria-label={t('Previous file')}
              disabled={at === 0}
              onClick={() => turn(-1)}
            >
              <Icon name="left" />
            </button>
            <button
              type="button"
              class="icon-only"
              aria-label={t('Next file')}
              disabled={at === values.length - 1}
              onClick={() => turn(1)}
            >
              <Icon name="right" />
            </button>
          </>
        )}
        <span class="hint">
          {values.length > 1 && `${t('{} of {} ·', at + 1, values.length)} `}
          {bytesText(one.value.size)} · {one.value.type}
        </span>
      </footer>
    </>
  )
}

/** Copies an address that shows the file without a key until tomorrow. */
async function share(file: OneFile): Promise<void> {
  try {
    const { url } = await linkTo(file, SHARED_FOR)
    await navigator.clipboard?.writeText(url).then(
      () => say(t('Copied. The link shows this file to everyone who has it, for a day.')),
      () => say(url),
    )
  } catch (reason) {
    sayError(reason)
  }
}
