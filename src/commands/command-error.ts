/** A command cannot be carried out. The message is for the operator. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError'
}
