import { setImmediate } from 'node:timers'

// Node's own: a test of somebody's that puts its clock into their place would have everybody wait for ever.
const { nextTick } = process
const { queueMicrotask } = globalThis

let end: Promise<void> | undefined
/** Those who have waited, while they go on. */
let goingOn: Promise<void> | undefined
/** The same, until the last of them waits for anything else: nothing of what they wait for has happened yet. */
let inStep: Promise<void> | undefined

/**
 * When this turn of the event loop ends: whatever requests had come by its beginning have been read by then. For those who go on
 * and wait once more it is when all the others have come as far. To do one thing for all requests and then the next takes a
 * processor far less than to go to and fro: what it runs, and what that works on, is in its caches still.
 */
export function endOfTurn(): Promise<void> {
  end ??= new Promise((resolve) => {
    if (goingOn) nextTick(goOn, resolve)
    else setImmediate(goOn, resolve)
  })
  return end
}

/**
 * Those who go on at the end of a turn, for one of them that has waited for nothing else since; `undefined` for anybody else. All of
 * them had come by that end, and nothing that anybody waits for has happened since: what is found out for one is as good for all.
 */
export function together(): object | undefined {
  return inStep
}

function goOn(resolve: () => void): void {
  const these = end
  goingOn = these
  inStep = these
  end = undefined
  resolve()
  // A tick that a microtask asks for comes after all microtasks, and so after whatever they do without waiting for anything else.
  queueMicrotask(() => {
    inStep = undefined
    nextTick(() => {
      if (goingOn === these) goingOn = undefined
    })
  })
}
