import { styleText } from 'node:util'
import { type Goal, judge, optionalGoals, requiredGoals, type Verdict } from './goals.ts'
import { median } from './median.ts'
import type { Results } from './results.ts'

/** Prints the required and the optional goals. Returns the number of missed required goals. */
export function printTable(results: Results): number {
  const missed = printGoals('Required goals', requiredGoals, results)
  printGoals('Optional goals', optionalGoals, results)
  return missed
}

function printGoals(title: string, goals: readonly Goal[], results: Results): number {
  const judged = goals.flatMap((goal) => {
    const figures = results[goal.task]?.figures
    const verdict = figures && judge(goal, figures)
    return verdict ? [{ goal, verdict, medians: medians(goal, figures) }] : []
  })
  if (judged.length === 0) return 0
  const missed = judged.filter(({ verdict }) => !verdict.isMet).length
  const line = (...[word = '', found = '', range = '', wanted = '', name = '', values = '']: string[]) =>
    `${word.padEnd(14)}${found.padStart(8)}  ${range.padEnd(14)}${wanted.padEnd(11)}${name.padEnd(52)}${values}`
  console.log(styleText('bold', `\n${title}: ${judged.length - missed} met, ${missed} missed`))
  console.log(styleText('dim', line('', 'median', 'range', 'goal', 'figure', 'medians')))
  for (const { goal, verdict, medians } of judged)
    console.log(
      line(word(verdict), text(verdict.median), range(verdict), wanted(goal), nameOf(goal), medians),
    )
  return missed
}

function word({ isMet, isInRange }: Verdict): string {
  if (!isMet) return 'missed'
  return isInRange ? 'met, in range' : 'met'
}

function range({ low, high }: Verdict): string {
  return `${text(low)}-${text(high)}`
}

function wanted({ minimum, maximum, unit = '' }: Goal): string {
  return `${minimum === undefined ? `<= ${maximum}` : `>= ${minimum}`} ${unit}`
}

function nameOf({ task, figure, of }: Goal): string {
  return `${task}: ${figure}${of === undefined ? '' : ` / ${of}`}`
}

function medians({ figure, of }: Goal, figures: Results[string]['figures']): string {
  return [figure, of]
    .flatMap((name) => (name === undefined ? [] : [text(median(figures[name] ?? []))]))
    .join(' / ')
}

function text(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en')
  return value.toFixed(value < 10 ? 2 : 1)
}
