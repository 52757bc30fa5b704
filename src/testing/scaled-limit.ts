import { availableParallelism, loadavg } from 'node:os'

/** Scales a time limit, in seconds, by the load of the machine. */
export function scaledLimit(seconds: number): number {
  const [load = 0] = loadavg()
  return seconds * Math.max(1, load / availableParallelism())
}
