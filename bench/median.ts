/** The middle value, or the mean of the two middle ones. */
export function median(all: readonly number[]): number {
  const sorted = all.toSorted((a, b) => a - b)
  const at = (place: number) => sorted[place] ?? Number.NaN
  return (at(Math.ceil(sorted.length / 2) - 1) + at(Math.floor(sorted.length / 2))) / 2
}

/**
 * The 95 % confidence interval of the median by the sign test, which holds for any distribution. In the sorted values, the lower
 * bound is as far from the start as the upper bound is from the end. With fewer than six values, the confidence is below
 * 95 %.
 */
export function interval(all: readonly number[]): { readonly low: number; readonly high: number } {
  const sorted = all.toSorted((a, b) => a - b)
  const { length } = sorted
  // The binomial distribution with p = 0.5. `ways` is the number of ways to choose the `rank + 1` values below the median.
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
