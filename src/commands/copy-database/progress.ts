// In milliseconds.
const interval = 5_000

/**
 * Reports progress every five seconds, with an estimate of the time that is left. Returns a function that counts copied rows.
 * @param now the clock, in milliseconds
 */
export function progressOf(
  total: number,
  report: (line: string) => void,
  now = () => performance.now(),
): (rows: number) => void {
  const start = now()
  let [done, reportedAt] = [0, start]
  return (rows) => {
    done += rows
    if (now() - reportedAt < interval) return
    reportedAt = now()
    const left = ((reportedAt - start) / done) * (total - done)
    report(`${done} of ${total} rows, about ${duration(left)} left`)
  }
}

function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000))
  return seconds < 120 ? `${seconds} seconds` : `${Math.round(seconds / 60)} minutes`
}
