/** The middle one, or the mean of both. */
export function median(all: readonly number[]): number {
  const sorted = all.toSorted((a, b) => a - b)
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]]
  if (low === undefined || high === undefined) throw new Error('Nothing was measured.')
  return (low + high) / 2
}

/**
 * Between which two of the values the median of all such measurements lies, with a certainty of 95 %, however they are
 * distributed: as many places from either end. Of fewer than six values, the first and the last.
 */
export function interval(all: readonly number[]): { readonly low: number; readonly high: number } {
  const sorted = all.toSorted((a, b) => a - b)
  const { length } = sorted
  // As with coins: in how many ways so many values fall below the median, and how likely so many or fewer are.
  let place = 0
  let ways = length
  let likely = 2 ** -length
  while (likely + ways / 2 ** length <= 0.025) {
    likely += ways / 2 ** length
    place += 1
    ways *= (length - place) / (place + 1)
  }
  const [low, high] = [sorted[place], sorted.at(-1 - place)]
  if (low === undefined || high === undefined) throw new Error('Nothing was measured.')
  return { low, high }
}
