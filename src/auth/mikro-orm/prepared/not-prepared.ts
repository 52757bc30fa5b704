/** The reason why a look-up uses `em.findOne`. */
export class NotPrepared extends Error {
  /** Whether the reason concerns only this request, such as an open transaction. If not, the developer is warned. */
  readonly isPassing: boolean

  constructor(reason: string, { isPassing = false, cause }: { isPassing?: boolean; cause?: unknown } = {}) {
    super(reason, { cause })
    this.isPassing = isPassing
  }
}
