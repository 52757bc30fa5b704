/** Runs tasks one at a time. */
export class TaskQueue {
  #last: Promise<void> = Promise.resolve()

  /** Runs a task after the earlier ones. If a task fails, all waiting tasks fail with the same error. */
  run<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(task)
    const last = result.then(() => {})
    this.#last = last
    last.catch(() => {
      if (this.#last === last) this.#last = Promise.resolve()
    })
    return result
  }
}
