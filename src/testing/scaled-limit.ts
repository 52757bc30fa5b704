import { availableParallelism, loadavg } from 'node:os'

/** Scales a time limit by the load of the machine. */
export function scaledLimit(limit: number): number {
  const [load = 0] = loadavg()
  return limit * Math.max(1, load / availableParallelism())
}
