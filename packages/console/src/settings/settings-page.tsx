import '../../style/pages/settings.css'
import { useState } from 'preact/hooks'
import { asOf } from '../place.ts'
import { PAGE_SIZES, type Preferences, prefer, preferences } from '../preferences.ts'
import { mayConfigure, saveSetting, setting } from '../service/settings.ts'
import { LANGUAGES } from '../texts/languages.ts'
import { sayError } from '../toast.ts'
import { Head } from '../ui/basics.tsx'
import { SelectField } from '../ui/inputs.tsx'
import { numberText } from '../values/format.ts'

const COMMON = ['EUR', 'USD', 'GBP', 'CHF', 'JPY']

/** What is so for everyone in the tenant, and how this browser shows it. */
export function SettingsPage() {
  const { language, theme, density, pageSize } = preferences.value
  return (
    <>
      <Head title="Settings" />
      <div class="settings">
        <section class="panel" aria-labelledby="tenant-title">
          <h2 id="tenant-title">For everyone in this tenant</h2>
          <CurrencyField />
        </section>
        <section class="panel" aria-labelledby="browser-title">
          <h2 id="browser-title">For you, in this browser</h2>
          <SelectField
            label="Language"
            value={language}
            options={Object.entries(LANGUAGES).map(([value, { name }]) => ({ value, label: name }))}
            onChange={(value) => {
              prefer({ language: value as Preferences['language'] })
              // The texts are chosen when the page is loaded.
              location.reload()
            }}
          />
          <SelectField
            label="Theme"
            value={theme}
            options={[
              { value: 'system', label: 'as the system' },
              { value: 'light', label: 'light' },
              { value: 'dark', label: 'dark' },
            ]}
            onChange={(value) => prefer({ theme: value as Preferences['theme'] })}
          />
          <SelectField
            label="Density"
            hint="On a touch screen rows keep the height of a finger."
            value={density}
            options={[
              { value: 'normal', label: 'normal' },
              { value: 'dense', label: 'dense' },
            ]}
            onChange={(value) => prefer({ density: value as Preferences['density'] })}
          />
          <SelectField
            label="Rows on a page"
            value={String(pageSize)}
            options={PAGE_SIZES.map((size) => ({ value: String(size), label: numberText(size) }))}
            onChange={(value) => prefer({ pageSize: Number(value) })}
          />
        </section>
      </div>
    </>
  )
}

/** The currency of amounts that do not name one, and of what is created next. */
function CurrencyField() {
  const [isBusy, setBusy] = useState(false)
  const known = setting('currency')
  const names = new Intl.DisplayNames(navigator.language, { type: 'currency' })
  const codes = [...COMMON, ...Intl.supportedValuesOf('currency').filter((code) => !COMMON.includes(code))]
  const save = async (code: string) => {
    setBusy(true)
    await saveSetting('currency', code || null, code ? `The currency is ${code}.` : 'No currency is set.').catch(
      sayError,
    )
    setBusy(false)
  }
  return (
    <fieldset class="bare" disabled={isBusy || !mayConfigure() || asOf.value !== null}>
      <legend class="unseen">Currency</legend>
      <SelectField
        label="Currency"
        hint="Amounts without a currency of their own are in this one, and new entries begin with it."
        value={typeof known === 'string' ? known : ''}
        options={[
          { value: '', label: 'none' },
          ...codes.map((code) => ({ value: code, label: `${code} · ${names.of(code)}` })),
        ]}
        onChange={(code) => void save(code)}
      />
    </fieldset>
  )
}
