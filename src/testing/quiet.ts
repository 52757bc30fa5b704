import { availableParallelism, loadavg } from 'node:os'

/** So many seconds of a machine that has nothing else to do, in seconds of this one. */
export function quiet(seconds: number): number {
  const [load = 0] = loadavg()
  return seconds * Math.max(1, load / availableParallelism())
}
