/** The style of the pages for signing in, for invitations and for consent, in the colours of the console. */
export const STYLE = `:root { color-scheme: light dark; --ink: #1b1c1e; --paper: #fbfbfa; --surface: #fff; --line: #d9d8d3; --accent: #0f6b63; --on-accent: #fff; --bad: #a82a22; --soft: #5c6066 }
@media (prefers-color-scheme: dark) { :root { --ink: #ebebe8; --paper: #121314; --surface: #191b1c; --line: #3a3e41; --accent: #6fc7bc; --on-accent: #06231f; --bad: #f39d95; --soft: #a2a6ab } }
* { box-sizing: border-box }
body { margin: 0; font: 15px/1.5 ui-sans-serif, system-ui, sans-serif; color: var(--ink); background: var(--paper) }
main { max-width: 27rem; margin: 12vh auto 4rem; padding: 1.75rem; background: var(--surface); border: 1px solid var(--line); border-radius: .75rem }
@media (max-width: 30rem) { main { margin: 0; border: 0; background: none } }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; overflow-wrap: anywhere }
p { overflow-wrap: anywhere }
form, fieldset, details { display: grid; gap: .75rem; margin: 1rem 0 0; padding: 0; border: 0 }
fieldset { border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem }
legend { padding: 0 .25rem; color: var(--soft) }
details[open] summary { margin-bottom: .5rem }
label { display: grid; gap: .25rem }
input, select, textarea, button, .button { font: inherit; color: inherit; width: 100%; padding: .5rem .75rem; border: 1px solid var(--line); border-radius: .5rem; background: transparent }
select option { color: #1c1c22; background: #fff }
button, .button { min-height: 2.75rem; cursor: pointer; text-align: center; text-decoration: none }
button.primary { color: var(--on-accent); background: var(--accent); border-color: var(--accent) }
button:disabled { opacity: .5 }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
.actions { display: flex; gap: .75rem }
.others { flex-direction: column; margin-top: 1.5rem }
.error { color: var(--bad) }
.note { color: var(--soft); font-size: .875rem }
[hidden] { display: none !important }
`
