/** The style of the pages for signing in, for invitations and for consent. */
export const STYLE = `:root { color-scheme: light dark; --ink: #1c1c22; --paper: #fff; --line: #d4d4dc; --accent: #3a4fd0; --bad: #b3261e; --soft: #5d5d68 }
@media (prefers-color-scheme: dark) { :root { --ink: #ececf1; --paper: #17171c; --line: #3c3c46; --accent: #93a2ff; --bad: #ff9b94; --soft: #a5a5b2 } }
* { box-sizing: border-box }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper) }
main { max-width: 28rem; margin: 12vh auto 4rem; padding: 0 1.25rem }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; overflow-wrap: anywhere }
p { overflow-wrap: anywhere }
form, fieldset, details { display: grid; gap: .75rem; margin: 1rem 0 0; padding: 0; border: 0 }
fieldset { border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem }
legend { padding: 0 .25rem; color: var(--soft) }
details[open] summary { margin-bottom: .5rem }
label { display: grid; gap: .25rem }
input, select, textarea, button, .button { font: inherit; color: inherit; width: 100%; padding: .5rem .75rem; border: 1px solid var(--line); border-radius: .5rem; background: transparent }
select option { color: #1c1c22; background: #fff }
button, .button { cursor: pointer; text-align: center; text-decoration: none }
button.primary { color: var(--paper); background: var(--accent); border-color: var(--accent) }
button:disabled { opacity: .5 }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
.actions { display: flex; gap: .75rem }
.others { flex-direction: column; margin-top: 1.5rem }
.error { color: var(--bad) }
.note { color: var(--soft); font-size: .875rem }
[hidden] { display: none !important }
`
