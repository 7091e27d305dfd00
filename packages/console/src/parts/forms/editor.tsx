import '../../../style/pages/code.css'
import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { javascript } from '@codemirror/lang-javascript'
import { json } from '@codemirror/lang-json'
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorState } from '@codemirror/state'
import { EditorView, keymap, lineNumbers, placeholder } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'preact/hooks'

export type Complete = (context: CompletionContext) => CompletionResult | null

const THEME = EditorView.theme({
  '&': { color: 'var(--ink)', maxHeight: '420px', minHeight: '120px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontSize: '12.5px', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-gutters': { color: 'var(--soft)', backgroundColor: 'var(--sunken)', border: '0' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--accent-soft) !important' },
  '.cm-placeholder': { color: 'var(--soft)' },
  '.cm-tooltip': { color: 'var(--ink)', backgroundColor: 'var(--surface)', border: '0', boxShadow: 'var(--shadow)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { color: 'var(--on-accent)', backgroundColor: 'var(--accent)' },
})

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.variableName)], color: 'var(--new)' },
  { tag: [tags.string, tags.regexp], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--wait)' },
  { tag: [tags.keyword, tags.operatorKeyword], color: 'var(--busy)' },
  { tag: tags.comment, color: 'var(--soft)' },
])

/** A text editor for JSON and code, with completion. It is loaded only by the pages that show it. */
export function Editor(props: {
  label: string
  language: 'json' | 'typescript'
  /** The text to begin with. */
  value: string
  /** Another edition begins again with `value`; until then the text is the editor's own. */
  edition?: number
  placeholder?: string
  complete?: Complete
  onChange: (value: string) => void
  onRun?: () => void
}) {
  const box = useRef<HTMLDivElement>(null)
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    const complete = (context: CompletionContext) => latest.current.complete?.(context) ?? null
    // In a shadow root the editor's styles are adopted sheets, which the content policy allows.
    const root = box.current!.shadowRoot ?? box.current!.attachShadow({ mode: 'open' })
    const made = new EditorView({
      parent: root,
      root,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [
          lineNumbers(),
          history(),
          bracketMatching(),
          syntaxHighlighting(COLOURS),
          props.language === 'json' ? json() : javascript({ typescript: true }),
          autocompletion(latest.current.complete ? { override: [complete] } : {}),
          keymap.of([
            // Escape leaves the editor first, so that Tab is not a trap for the keyboard.
            { key: 'Escape', run: (editor) => leave(editor) },
            { key: 'Mod-Enter', run: () => runNow(latest.current.onRun) },
            ...completionKeymap,
            ...defaultKeymap,
            ...historyKeymap,
            indentWithTab,
          ]),
          placeholder(props.placeholder ?? ''),
          EditorView.lineWrapping,
          THEME,
          EditorView.contentAttributes.of({ 'aria-label': props.label }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange(update.state.doc.toString())
          }),
        ],
      }),
    })
    return () => made.destroy()
  }, [props.language, props.edition])
  return <div class="editor" ref={box} />
}

function leave(editor: EditorView): boolean {
  const hasList = editor.dom.querySelector('.cm-tooltip-autocomplete') !== null
  if (!hasList) editor.contentDOM.blur()
  return false
}

function runNow(run: (() => void) | undefined): boolean {
  run?.()
  return true
}
