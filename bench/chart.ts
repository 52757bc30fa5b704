import type { Results } from './results.ts'
import { type Server, servers } from './servers.ts'

// What a Node user would choose between. Constant answers are no choice, and ES256 and EdDSA look like each other.
export const panels = [
  { task: 'bearer', title: 'Bearer token', subtitle: 'GET /me; we remember what we have looked up' },
  { task: 'jwt-hs256', title: 'Signed token', subtitle: 'HS256; we remember what we have verified' },
  {
    task: 'session',
    title: 'Page with a session',
    subtitle: 'GET /account, rendered; remembered as above, cookies as in manuals',
  },
  { task: 'visitor', title: 'Page of a visitor', subtitle: 'GET /login, rendered' },
]

const width = 880
const margin = 24
const gap = 40
const panelWidth = (width - 2 * margin - gap) / 2
const labelWidth = 186
const valueWidth = 52
const row = 24
const bar = 14
const panelHead = 44
const top = 116

const style = `
    text { font: 13px -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, sans-serif; fill: #10201a }
    .title { font-size: 20px; font-weight: 650 }
    .panel { font-size: 15px; font-weight: 650 }
    .soft { fill: #4b5c55 }
    .ours { font-weight: 650 }
    .value { font-variant-numeric: tabular-nums }
    .axis { stroke: #b4c2bb }
    .bar { fill: #a9b8b1 }
    .bar.ours { fill: #0b6a4e }
    .bar.hand { fill: none; stroke: #6d7f77; stroke-width: 1.5 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6efea }
      .soft { fill: #a2b4ac }
      .axis { stroke: #42554c }
      .bar { fill: #53655d }
      .bar.ours { fill: #5fd0a5 }
      .bar.hand { stroke: #a2b4ac }
    }`

interface Bar {
  readonly server: Server
  readonly rate: number
}

/** The results as a picture: a panel for each task, a bar for each server, ours in colour. */
export function chart(results: Results): string {
  const drawn = panels.map((panel) => ({ ...panel, bars: barsOf(results, panel.task) }))
  const height = (panel: { bars: readonly Bar[] } | undefined) => panelHead + (panel?.bars.length ?? 0) * row
  const rows = [drawn.slice(0, 2), drawn.slice(2)]
  let y = top
  const body: string[] = []
  for (const pair of rows) {
    for (const [column, panel] of pair.entries()) {
      body.push(drawPanel(panel, margin + column * (panelWidth + gap), y))
    }
    y += Math.max(...pair.map(height)) + 32
  }
  const total = y + 16
  const summary = drawn.map(({ title, bars }) => `${title}: ${bars.map(described).join(', ')}.`).join(' ')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${total}" width="${width}" height="${total}" role="img" aria-labelledby="title desc">
  <title id="title">Requests a second on one core</title>
  <desc id="desc">${escaped(summary)}</desc>
  <style>${style}
  </style>
  <text class="title" x="${margin}" y="36">Requests a second on one core</text>
  <text class="soft" x="${margin}" y="60">The same answers from the same rows: 10,000 users, 100,000 tokens, 10,000 sessions in SQLite. Longer is better.</text>
  <text class="soft" x="${margin}" y="79">Outlined: written by hand, without a library. The two sites also send security headers, check origins and keep a log.</text>
${body.join('\n')}
  <text class="soft" x="${margin}" y="${total - 16}">${escaped(`npm run bench, ${results.at}: ${results.machine}`)}</text>
</svg>
`
}

function barsOf({ rates }: Results, task: string): Bar[] {
  const measured = rates[task] ?? {}
  return servers
    .filter(({ isConstant, isVariant, isDrawn }) => !isConstant && (!isVariant || isDrawn))
    .flatMap((server) => {
      const found = measured[server.key]
      return found ? [{ server, rate: found.capacity }] : []
    })
    .sort((a, b) => b.rate - a.rate)
}

function drawPanel(panel: (typeof panels)[number] & { bars: Bar[] }, x: number, y: number): string {
  const longest = Math.max(...panel.bars.map(({ rate }) => rate))
  const zero = x + labelWidth
  const scale = (panelWidth - labelWidth - valueWidth) / longest
  const lines = panel.bars.map(({ server, rate }, i) => {
    const middle = y + panelHead + i * row + row / 2 - 8
    const ours = server.isOurs ? ' ours' : ''
    const hand = server.isByHand ? ' hand' : ''
    const length = rate * scale
    // An outline stands inside its bar, so that both kinds end where they should.
    const inset = server.isByHand ? 0.75 : 0
    const box = `x="${at(zero + inset)}" y="${at(middle - bar / 2 + inset)}" width="${at(length - 2 * inset)}" height="${bar - 2 * inset}"`
    return `  <text class="label${ours}" x="${x}" y="${at(middle + 4.5)}">${escaped(server.name)}</text>
  <rect class="bar${ours}${hand}" ${box} rx="2"/>
  <text class="value${ours}" x="${at(zero + length + 7)}" y="${at(middle + 4.5)}">${rounded(rate)}</text>`
  })
  const bottom = y + panelHead + panel.bars.length * row - 8
  return `  <text class="panel" x="${x}" y="${y}">${escaped(panel.title)}</text>
  <text class="soft" x="${x}" y="${y + 19}">${escaped(panel.subtitle)}</text>
${lines.join('\n')}
  <path class="axis" d="M${at(zero)} ${y + panelHead - 10}V${bottom}"/>`
}

function described({ server, rate }: Bar): string {
  return `${server.name} ${rounded(rate)}`
}

// More digits would say more than a measurement can.
function rounded(rate: number): string {
  const step = rate >= 1000 ? 100 : 10
  return (Math.round(rate / step) * step).toLocaleString('en')
}

function at(position: number): string {
  return String(Math.round(position * 10) / 10)
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
