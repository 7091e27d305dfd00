/** The drawings, on a grid of 16 by 16, as strokes. */
const PATHS = {
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  home: 'M2.5 7 8 2.5l5.5 4.5v6a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1zM6.5 14V9.5h3V14',
  chart: 'M2.5 13.5h11M4.5 11V7.5M8 11V3.5M11.5 11V6',
  pulse: 'M1.5 8h3l2-5 3 10 2-5h3',
  code: 'm5.5 4.5-3.5 3.5 3.5 3.5m5-7 3.5 3.5-3.5 3.5',
  bot: 'M3.5 6h9a1 1 0 0 1 1 1v5a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1V7a1 1 0 0 1 1-1zM8 6V3m-2.5 6.5v0m5 0v0M1 9v1.5m14-1.5v1.5',
  upload: 'M8 10.5v-8m-3 3 3-3 3 3M2.5 10.5v2a1 1 0 0 0 1 1h9a1 1 0 0 0 1-1v-2',
  download: 'M8 2.5v8m-3-3 3 3 3-3M2.5 10.5v2a1 1 0 0 0 1 1h9a1 1 0 0 0 1-1v-2',
  hook: 'M6 6.5a2.5 2.5 0 1 1 3.5 2.3M8.5 6.5l2.3 4M5.5 8.5a2.8 2.8 0 1 0 1.8 3h4.2',
  key: 'M10 9.5a3.5 3.5 0 1 0-3.3-2.3L2.5 11.5v2h2.5v-1.5h1.5v-1.5l1.3-1.3a3.5 3.5 0 0 0 2.2.3zM11 5v0',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zm3.3-1.2 3.2 3.2',
  filter: 'M2 3.5h12M4.5 8h7M6.5 12.5h3',
  sort: 'M5 3v10m-2.5-2.5L5 13l2.5-2.5M11 13V3m-2.5 2.5L11 3l2.5 2.5',
  columns: 'M2.5 3h11v10h-11zM6.2 3v10m3.6-10v10',
  table: 'M2.5 3h11v10h-11zM2.5 6.5h11M2.5 10h11',
  board: 'M2.5 3h3v10h-3zM6.8 3h3v6h-3zM11 3h3v8h-3z',
  plus: 'M8 3v10M3 8h10',
  more: 'M3.5 8v0M8 8v0M12.5 8v0',
  close: 'm4 4 8 8m0-8-8 8',
  check: 'm3 8.5 3.5 3.5L13 4.5',
  up: 'm4.5 9.5 3.5-3.5 3.5 3.5',
  down: 'm4.5 6.5 3.5 3.5 3.5-3.5',
  right: 'm6.5 4.5 3.5 3.5-3.5 3.5',
  left: 'm9.5 4.5-3.5 3.5 3.5 3.5',
  edit: 'M10.5 3 13 5.5 5.5 13H3v-2.5zM9 4.5 11.5 7',
  bin: 'M3 4.5h10M6.5 4.5v-2h3v2m-5 0 .5 9h6l.5-9M6.8 7v4m2.4-4v4',
  link: 'M6.5 9.5 9.5 6.5M7 4.5l1.3-1.3a2.8 2.8 0 0 1 4 4L11 8.5M9 11.5l-1.3 1.3a2.8 2.8 0 0 1-4-4L5 7.5',
  clip: 'm12.5 7.5-4.7 4.7a3 3 0 0 1-4.2-4.2L8.7 2.9a2 2 0 0 1 2.8 2.8l-5 5a1 1 0 0 1-1.4-1.4l4.6-4.6',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zm0-9v3l2 1.5',
  undo: 'M3 6.5h6.5a3.5 3.5 0 0 1 0 7H7M3 6.5l3-3m-3 3 3 3',
  star: 'm8 2.5 1.7 3.5 3.8.5-2.8 2.7.7 3.8L8 11.2 4.6 13l.7-3.8L2.5 6.5 6.3 6z',
  bookmark: 'M4 2.5h8v11l-4-3-4 3z',
  inbox: 'M2.5 9.5h3l1 2h3l1-2h3M2.5 9.5l2-6h7l2 6v3a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1z',
  grid: 'M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z',
  shape: 'M8 2.5 13.5 5.5v5L8 13.5 2.5 10.5v-5zM2.5 5.5 8 8.5l5.5-3M8 8.5v5',
  help: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.3 6.2a1.8 1.8 0 1 1 2.6 1.7c-.6.3-.9.6-.9 1.3M8 11.3v0',
  out: 'M6.5 2.5h-3a1 1 0 0 0-1 1v9a1 1 0 0 0 1 1h3M10.5 11l3-3-3-3m3 3H6.5',
  note: 'M2.5 3h11v8h-6l-3 2.5V11h-2z',
  share:
    'M6 7.5a2 2 0 1 1-4 0 2 2 0 0 1 4 0zM14 4a2 2 0 1 1-4 0 2 2 0 0 1 4 0zM14 11.5a2 2 0 1 1-4 0 2 2 0 0 1 4 0zM5.8 6.7l4.4-2m-4.4 3.6 4.4 2.3',
  refresh: 'M13 8a5 5 0 1 1-1.5-3.5L13 6M13 2.5V6H9.5',
  seal: 'M8 10.5a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM6.2 6.6l1.3 1.3 2.3-2.5M5.6 9.7l-1.1 4.3L8 12.3l3.5 1.7-1.1-4.3',
  person: 'M8 8a2.8 2.8 0 1 0 0-5.6A2.8 2.8 0 0 0 8 8zM2.5 13.5a5.5 4 0 0 1 11 0',
  people:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13a4.5 4 0 0 1 9 0M10.5 2.8a2.5 2.5 0 0 1 0 4.5M12 9.5a4 4 0 0 1 2.5 3.5',
  shield: 'M8 2 13 4v4c0 3-2 5-5 6-3-1-5-3-5-6V4z',
  sliders: 'M2.5 4.5h6m3 0h2M10 3v3M2.5 11.5h2m3 0h6M6 10v3',
  calendar: 'M2.5 4h11v9.5h-11zM2.5 7h11M5.5 2.5v3m5-3v3',
  group: 'M2.5 4h4M2.5 8h11M2.5 12h11M9 4h4.5',
} as const

export type IconName = keyof typeof PATHS

/** A small drawing next to a word. It says nothing that the word does not. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}

export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M6 19c2.5-7 6.5-7 10-3.5s7.5 3.5 10-3.5" />
    </svg>
  )
}
