import { readFileSync } from 'node:fs'

// Linux counts the times in /proc/<pid>/stat in hundredths of a second.
const ticksPerSecond = 100

/** Seconds of processor time that a process has used, in all threads. `NaN` without /proc. */
export function processorTime(pid: number | undefined): number {
  const stat = read(`/proc/${pid}/stat`)
  // The name of the program may contain spaces. Of the fields after the name, utime is the 12th and stime the 13th.
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
