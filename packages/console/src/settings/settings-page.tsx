import '../../style/pages/settings.css'
import { useState } from 'preact/hooks'
import { asOf } from '../place.ts'
import { PAGE_SIZES, type Preferences, prefer, preferences } from '../preferences.ts'
import { mayConfigure, setting, tenantName } from '../service/settings.ts'
import { LANGUAGES } from '../texts/languages.ts'
import { t } from '../texts/text.ts'
import { sayError } from '../toast.ts'
import { Head } from '../ui/basics.tsx'
import { SelectField, TextField } from '../ui/inputs.tsx'
import { LOCALE, numberText } from '../values/format.ts'
import { saveSetting } from './save-setting.ts'

const COMMON = ['EUR', 'USD', 'GBP', 'CHF', 'JPY']

/** What is so for everyone in the tenant, and how this browser shows it. */
export function SettingsPage() {
  const { language, theme, density, pageSize } = preferences.value
  return (
    <>
      <Head title={t('Settings')} />
      <div class="settings">
        {mayConfigure() && (
          <section class="panel" aria-labelledby="tenant-title">
            <h2 id="tenant-title">{t('For everyone')}</h2>
            <NameField />
            <CurrencyField />
          </section>
        )}
        <section class="panel" aria-labelledby="browser-title">
          <h2 id="browser-title">{t('For you, in this browser')}</h2>
          <SelectField
            label={t('Language')}
            value={language}
            options={Object.entries(LANGUAGES).map(([value, { name }]) => ({ value, label: name }))}
            onChange={(value) => {
              prefer({ language: value as Preferences['language'] })
              // The texts are chosen when the page is loaded.
              location.reload()
            }}
          />
          <SelectField
            label={t('Theme')}
            value={theme}
            options={[
              { value: 'system', label: t('as the system') },
              { value: 'light', label: t('light') },
              { value: 'dark', label: t('dark') },
            ]}
            onChange={(value) => prefer({ theme: value as Preferences['theme'] })}
          />
          <SelectField
            label={t('Density')}
            hint={t('On a touch screen rows keep the height of a finger.')}
            value={density}
            options={[
              { value: 'normal', label: t('normal') },
              { value: 'dense', label: t('dense') },
            ]}
            onChange={(value) => prefer({ density: value as Preferences['density'] })}
          />
          <SelectField
            label={t('Rows on a page')}
            value={String(pageSize)}
            options={PAGE_SIZES.map((size) => ({ value: String(size), label: numberText(size) }))}
            onChange={(value) => prefer({ pageSize: Number(value) })}
          />
        </section>
      </div>
    </>
  )
}

/** What the tenant is called on its pages. */
function NameField() {
  const known = tenantName() ?? ''
  const [name, setName] = useState<string | null>(null)
  const text = name ?? known
  const save = () =>
    saveSetting('name', text.trim() || null, t('The name is saved.')).then(() => setName(null), sayError)
  return (
    <form
      class="name-line"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <TextField
        label={t('Name of the company')}
        hint={t('At the top of every page, in place of the name in the address.')}
        disabled={!mayConfigure() || asOf.value !== null}
        value={text}
        onChange={setName}
      />
      {text !== known && (
        <button type="submit" class="primary">
          {t('Save')}
        </button>
      )}
    </form>
  )
}

/** The currency of amounts that do not name one, and of what is created next. */
function CurrencyField() {
  const [isBusy, setBusy] = useState(false)
  const known = setting('currency')
  const names = new Intl.DisplayNames(LOCALE, { type: 'currency' })
  const codes = [...COMMON, ...Intl.supportedValuesOf('currency').filter((code) => !COMMON.includes(code))]
  const save = async (code: string) => {
    setBusy(true)
    await saveSetting('currency', code || null, code ? t('The currency is {}.', code) : t('No currency is set.')).catch(
      sayError,
    )
    setBusy(false)
  }
  return (
    <fieldset class="bare" disabled={isBusy || !mayConfigure() || asOf.value !== null}>
      <legend class="unseen">{t('Currency')}</legend>
      <SelectField
        label={t('Currency')}
        hint={t('Amounts without a currency of their own are in this one, and new entries begin with it.')}
        value={typeof known === 'string' ? known : ''}
        options={[
          { value: '', label: t('none') },
          ...codes.map((code) => ({ value: code, label: `${code} · ${names.of(code)}` })),
        ]}
        onChange={(code) => void save(code)}
      />
    </fieldset>
  )
}
