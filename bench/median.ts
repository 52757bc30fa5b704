/** The middle value, or the mean of the two middle ones. */
export function median(all: readonly number[]): number {
  const sorted = all.toSorted((a, b) => a - b)
  const at = (place: number) => sorted[place] ?? Number.NaN
  return (at(Math.ceil(sorted.length / 2) - 1) + at(Math.floor(sorted.length / 2))) / 2
}

/**
 * The confidence interval of the median, at 95 %, for values of any distribution: the values at equal ranks from both ends (sign
 * test). Of fewer than six values, the lowest and the highest.
 */
export function interval(all: readonly number[]): { readonly low: number; readonly high: number } {
  const sorted = all.toSorted((a, b) => a - b)
  const { length } = sorted
  // The binomial distribution with p = 0.5: `ways` to have `rank` values below the median.
  let rank = 0
  let ways = length
  let probability = 2 ** -length
  while (probability + ways / 2 ** length <= 0.025) {
    probability += ways / 2 ** length
    rank += 1
    ways *= (length - rank) / (rank + 1)
  }
  return { low: sorted[rank] ?? Number.NaN, high: sorted.at(-1 - rank) ?? Number.NaN }
}
