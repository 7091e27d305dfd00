import '../../style/pages/people.css'
import { useRef, useState } from 'preact/hooks'
import { request } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { say } from '../toast.ts'
import { Refusal, useFocusOnRefused } from '../ui/basics.tsx'
import { useUnsaid } from '../ui/form-dialog.tsx'
import { TextField } from '../ui/inputs.tsx'
import { Failure } from '../ui/states.tsx'

/** Changes the password of the person who is signed in. */
export function PasswordForm() {
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const form = useRef<HTMLFormElement>(null)
  useFocusOnRefused(form, error)
  const unsaid = useUnsaid(form, error)
  const change = async () => {
    setError(null)
    await request('PUT', '/account/password', { body: { password, ...(current && { current }) } }).then(() => {
      say(t('The password is changed. Your other sessions are ended.'))
      setCurrent('')
      setPassword('')
    }, setError)
  }
  return (
    <section class="block" aria-labelledby="password">
      <h2 id="password">{t('Password')}</h2>
      <form
        ref={form}
        onSubmit={(event) => {
          event.preventDefault()
          void change()
        }}
      >
        <Refusal.Provider value={error}>
          <TextField
            label={t('Current password')}
            field="current"
            hint={t('Leave it empty if you have none.')}
            type="password"
            autocomplete="current-password"
            value={current}
            onChange={setCurrent}
          />
          <TextField
            label={t('New password')}
            field="password"
            hint={t('12 characters or more.')}
            type="password"
            autocomplete="new-password"
            minLength={12}
            required
            value={password}
            onChange={setPassword}
          />
        </Refusal.Provider>
        <Failure error={unsaid} />
        <button type="submit">{t('Change the password')}</button>
      </form>
    </section>
  )
}
