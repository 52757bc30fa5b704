/**
 * Gives the system back what nobody needs any more, such as what only the start needed: while nothing happens, V8 would not
 * look for it. Nothing else is done meanwhile, for some tens of milliseconds.
 *
 * `node --expose-gc` could do the same, but whatever of Node itself was compiled beforehand is of no use to it then.
 *
 * @throws if this Node has no inspector, or is not allowed to use it
 */
export async function collectGarbage(): Promise<void> {
  const { Session } = await import('node:inspector/promises')
  const session = new Session()
  session.connect()
  try {
    await session.post('HeapProfiler.collectGarbage')
  } finally {
    session.disconnect()
  }
}
