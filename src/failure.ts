/** What was asked for cannot be done. The message is for whoever runs the command. */
export class Failure extends Error {
  override readonly name: string = 'Failure'
}
