import { useState } from 'preact/hooks'
import { go } from '../place.ts'
import { write } from '../service/write.ts'
import { t } from '../texts/text.ts'
import { say } from '../toast.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { SelectField, TextField } from '../ui/inputs.tsx'
import type { Entity } from '../values/entity.ts'

const TYPE = 'Integration'

const PROVIDERS = [
  { value: 'hubspot', label: 'HubSpot', reads: t('companies, contacts, deals and tickets') },
  { value: 'stripe', label: 'Stripe', reads: t('customers, subscriptions and invoices') },
  { value: 'github', label: 'GitHub', reads: t('the issues of a repository') },
]

export const SCHEDULES = [
  { value: '', label: t('when you start it') },
  { value: '0 * * * *', label: t('every hour') },
  { value: '0 3 * * *', label: t('every night') },
]

/** Asks for a service and its token. The service is asked whether the token is valid before anything runs. */
export function ConnectDialog({ integration, onClose }: { integration: Entity | null; onClose: () => void }) {
  const [made, setMade] = useState(integration)
  const [provider, setProvider] = useState(String(integration?.provider ?? 'hubspot'))
  const [scope, setScope] = useState(String(integration?.scope ?? ''))
  const [schedule, setSchedule] = useState(String(integration?.schedule ?? ''))
  const [address, setAddress] = useState('')
  const [token, setToken] = useState('')
  const known = PROVIDERS.find(({ value }) => value === provider)
  const connect = async () => {
    // A wrong token leaves the integration there, to be connected with the next try.
    const body = { name: known?.label ?? provider, provider, scope: scope || null }
    const more = { schedule: schedule || null, apiBaseUrl: address.trim() || null }
    const stored = made ?? (await write<Entity>({ path: `/${TYPE}`, body: { ...body, ...more }, type: TYPE })).value
    setMade(stored)
    await write({ path: `/${TYPE}/${stored.$id}/connect`, body: { credentials: { token: token.trim() } }, type: TYPE })
    say(t('{} is connected. Check its fields, then run it.', String(stored.name)))
    onClose()
    go(['integrations', stored.$id])
  }
  return (
    <FormDialog title={t('Connect a service')} submit={t('Connect')} onSubmit={connect} onClose={onClose}>
      {made === null && (
        <>
          <SelectField
            label={t('Service')}
            hint={known && t('Reads {}.', known.reads)}
            value={provider}
            options={PROVIDERS}
            onChange={setProvider}
          />
          {provider === 'github' && (
            <TextField
              label={t('Repository')}
              placeholder={t('owner/name, or empty for all')}
              value={scope}
              onChange={setScope}
            />
          )}
          <TextField
            label={t('Address')}
            type="url"
            hint={t('Empty for that of the service itself.')}
            value={address}
            onChange={setAddress}
          />
          <SelectField label={t('Runs')} value={schedule} options={SCHEDULES} onChange={setSchedule} />
        </>
      )}
      <TextField
        label={t('Access token')}
        type="password"
        required
        hint={t('It is stored encrypted, and is never shown again.')}
        value={token}
        onChange={setToken}
      />
    </FormDialog>
  )
}
