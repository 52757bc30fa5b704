import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { median } from './median.ts'
import type { Figures, Results } from './results.ts'
import { type Server, servers } from './servers.ts'

const panels = [
  { task: 'bearer', title: 'Bearer token' },
  { task: 'jwt-hs256', title: 'JWT, HS256' },
  { task: 'session', title: 'Page with a session' },
  { task: 'visitor', title: 'Page of a visitor' },
]

const file = join(import.meta.dirname, 'chart.svg')
const width = 880
const margin = 24
const gap = 40
const panelWidth = (width - 2 * margin - gap) / 2
const labelWidth = 150
const valueWidth = 56
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
    .bar { fill: #a9b8b1 }
    .bar.ours { fill: #0b6a4e }
    .bar.hand { fill: none; stroke: #6d7f77; stroke-width: 1.5 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6efea }
      .soft { fill: #a2b4ac }
      .bar { fill: #53655d }
      .bar.ours { fill: #5fd0a5 }
      .bar.hand { stroke: #a2b4ac }
    }`

interface Bar {
  readonly server: Server
  readonly rate: number
}

interface Panel {
  readonly title: string
  readonly at: string
  readonly bars: readonly Bar[]
}

/** Draws `chart.svg`, with a panel for each of four tasks and a bar for each server. Needs the results of all four. */
export function drawChart(results: Results): void {
  const drawn = panels.flatMap(({ task, title }) => {
    const found = results[task]
    return found ? [{ title, at: found.at, bars: barsOf(found.figures) }] : []
  })
  if (drawn.length < panels.length) return
  writeFileSync(file, svg(drawn))
  console.log(`\n${file}`)
}

function svg(drawn: readonly Panel[]): string {
  const heightOf = ({ bars }: Panel) => panelHead + bars.length * row + 32
  const body: string[] = []
  let y = top
  for (const pair of [drawn.slice(0, 2), drawn.slice(2)]) {
    for (const [column, panel] of pair.entries())
      body.push(panelAt(panel, margin + column * (panelWidth + gap), y))
    y += Math.max(...pair.map(heightOf))
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" width="${width}" height="${y}" role="img" aria-labelledby="title">
  <title id="title">Requests per second on one core</title>
  <style>${style}
  </style>
  <text class="title" x="${margin}" y="36">Requests per second on one core</text>
  <text class="soft" x="${margin}" y="60">The same responses and the same rows: 10,000 users, 100,000 tokens, 10,000 sessions in SQLite. Longer is better.</text>
  <text class="soft" x="${margin}" y="79">Outlined bars: no authentication library. The two sites also send security headers, check origins and write a log.</text>
${body.join('\n')}
</svg>
`
}

function barsOf(figures: Figures): Bar[] {
  return servers
    .flatMap((server) => {
      const values = figures[server.key]
      return values ? [{ server, rate: median(values) }] : []
    })
    .sort((a, b) => b.rate - a.rate)
}

function panelAt({ title, at, bars }: Panel, x: number, y: number): string {
  const scale = (panelWidth - labelWidth - valueWidth) / Math.max(...bars.map(({ rate }) => rate))
  const lines = bars.map(({ server, rate }, i) => {
    const middle = y + panelHead + i * row
    const ours = server.isOurs ? ' ours' : ''
    const hand = server.isByHand ? ' hand' : ''
    const length = Math.round(rate * scale)
    return `  <text class="label${ours}" x="${x}" y="${middle + 4.5}">${server.name}</text>
  <rect class="bar${ours}${hand}" x="${x + labelWidth}" y="${middle - bar / 2}" width="${length}" height="${bar}" rx="2"/>
  <text class="value${ours}" x="${x + labelWidth + length + 7}" y="${middle + 4.5}">${rounded(rate)}</text>`
  })
  return `  <text class="panel" x="${x}" y="${y}">${title}</text>
  <text class="soft" x="${x}" y="${y + 19}">npm run bench, ${at}</text>
${lines.join('\n')}`
}

/** Rounds to hundreds or tens, because measurements are not more precise. */
function rounded(rate: number): string {
  const step = rate >= 1000 ? 100 : 10
  return (Math.round(rate / step) * step).toLocaleString('en')
}
