import { readFileSync } from 'node:fs'

// The unit of /proc/<pid>/stat on Linux.
const ticksPerSecond = 100

/** Seconds of processor time that a process has used, in all threads. `NaN` without /proc. */
export function processorTime(pid: number | undefined): number {
  const stat = read(`/proc/${pid}/stat`)
  // The fields after the name of the program, which may contain spaces: utime and stime are the 12th and 13th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** Resident memory of a process in megabytes. `NaN` without /proc. */
export function residentMemory(pid: number | undefined): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(read(`/proc/${pid}/status`))?.[1]) / 1024
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
