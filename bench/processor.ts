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

/** Resident memory of a process, in megabytes. */
export interface ResidentMemory {
  readonly all: number
  /** Pages of files: of Node's program above all, which processes share, and of which the kernel maps more or fewer at a time. */
  readonly files: number
}

/** The resident memory of a process; `undefined` if nobody says. */
export function residentMemory(pid: number | undefined): ResidentMemory | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const [all, files] = [/VmRSS:\s+(\d+) kB/, /RssFile:\s+(\d+) kB/].map((each) => each.exec(status)?.[1])
    return all === undefined ? undefined : { all: Number(all) / 1024, files: Number(files) / 1024 }
  } catch {
    return undefined
  }
}
