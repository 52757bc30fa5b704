/** Returns a generator of pseudo-random integers from 0 to `below - 1`. The sequence is the same in every run. */
export function randomNumbers(): (below: number) => number {
  let state = 1815
  return (below) => {
    state = (state * 1103515245 + 12345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
}
