import { readFileSync } from 'node:fs'

// What Linux counts in, on every machine of today.
const ticks = 100

/** The processor time that a process has used, all its threads together, in seconds; `undefined` if nobody says. */
export function processorTime(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Behind the name of the program, which may hold anything: utime and stime.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / ticks
  } catch {
    return undefined
  }
}

/** The resident memory of a process in megabytes; `undefined` if nobody says. */
export function residentMemory(pid: number | undefined): number | undefined {
  try {
    const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
  } catch {
    return undefined
  }
}
