import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { join } from 'node:path'

const { O_RDONLY, O_NONBLOCK } = constants

/** A named pipe with a reader that reads only when `read` is called. */
export class NamedPipe {
  readonly path: string
  readonly #buffer = Buffer.alloc(1 << 20)
  #reader: number | undefined

  constructor(folder: string) {
    this.path = join(folder, 'pipe')
    execFileSync('mkfifo', [this.path])
    this.open()
  }

  open(): void {
    this.#reader = openSync(this.path, O_RDONLY | O_NONBLOCK)
  }

  /** Reads all available data. */
  read(): string {
    let all = ''
    for (;;) {
      const chunk = this.#chunk()
      if (chunk === '') return all
      all += chunk
    }
  }

  close(): void {
    if (this.#reader !== undefined) closeSync(this.#reader)
    this.#reader = undefined
  }

  #chunk(): string {
    if (this.#reader === undefined) throw new Error('This pipe is closed.')
    try {
      return this.#buffer.toString('latin1', 0, readSync(this.#reader, this.#buffer))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return ''
      throw error
    }
  }
}
