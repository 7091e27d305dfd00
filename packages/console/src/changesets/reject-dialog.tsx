import { useState } from 'preact/hooks'
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
      title={`Reject ${props.title}?`}
      submit="Reject"
      onSubmit={() => props.onReject(reason.trim())}
      onClose={props.onClose}
    >
      <p>It is closed, and nothing of it is written. A rejection cannot be undone; the author can propose it again.</p>
      <TextField label="Reason for the author" value={reason} onChange={setReason} />
    </FormDialog>
  )
}
