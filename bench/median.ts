/** The middle value, or the mean of the two middle ones. */
export function median(all: readonly number[]): number {
  const sorted = all.toSorted((a, b) => a - b)
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]]
  if (low === undefined || high === undefined) throw new Error('Nothing was measured.')
  return (low + high) / 2
}

/**
 * The confidence interval of the median, at 95 %, for values of any distribution: the values at equal ranks from both ends
 * (https://en.wikipedia.org/wiki/Median_test, sign test). Of fewer than six values, the lowest and the highest.
 */
export function interval(all: readonly number[]): { readonly low: number; readonly high: number } {
  const sorted = all.toSorted((a, b) => a - b)
  const { length } = sorted
  // The binomial distribution with p = 0.5: `ways` of having `rank` values below the median.
  let rank = 0
  let ways = length
  let probability = 2 ** -length
  while (probability + ways / 2 ** length <= 0.025) {
    probability += ways / 2 ** length
    rank += 1
    ways *= (length - rank) / (rank + 1)
  }
  const [low, high] = [sorted[rank], sorted.at(-1 - rank)]
  if (low === undefined || high === undefined) throw new Error('Nothing was measured.')
  return { low, high }
}
