import { readFileSync } from 'node:fs'

// The unit of /proc/<pid>/stat on Linux.
const ticksPerSecond = 100

/** Seconds of processor time that a process has used, in all threads. `undefined` where there is no /proc. */
export function processorTime(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The fields after the name of the program, which may contain spaces: utime and stime are the 12th and 13th.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
  } catch {
    return undefined
  }
}

/** Resident memory of a process in megabytes. `NaN` where there is no /proc. */
export function residentMemory(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024
  } catch {
    return Number.NaN
  }
}
