/** Runs tasks one after the other. */
export class TaskQueue {
  #last: Promise<void> = Promise.resolve()

  /** Runs a task after those before it. If one of them fails, all that wait behind it fail with the same error. */
  run<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(task)
    const last = result.then(ignore)
    this.#last = last
    last.catch(() => {
      if (this.#last === last) this.#last = Promise.resolve()
    })
    return result
  }
}

function ignore(): void {}
