import { useState } from 'preact/hooks'
import { t } from '../texts/text.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { TextField } from '../ui/inputs.tsx'

/** Asks before a proposal is rejected, and why. */
export function RejectDialog(props: {
  title: string
  onReject: (reason: string) => Promise<unknown>
  onClose: () => void
}) {
  const [reason, setReason] = useState('')
  return (
    <FormDialog
      title={t('Reject {}?', props.title)}
      submit={t('Reject')}
      onSubmit={() => props.onReject(reason.trim())}
      onClose={props.onClose}
    >
      <p>
        {t(
          'It is closed, and nothing of it is written. A rejection cannot be undone; the author can propose it again.',
        )}
      </p>
      <TextField label={t('Reason for the author')} value={reason} onChange={setReason} />
    </FormDialog>
  )
}
