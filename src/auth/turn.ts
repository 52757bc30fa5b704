import { setImmediate } from 'node:timers'

// Node's own: a test of somebody's that puts its clock into their place would have everybody wait for ever.
const { nextTick } = process
const { queueMicrotask } = globalThis

let end: Promise<void> | undefined
/** Those who have waited, while they go on. */
let goingOn: Promise<void> | undefined
/** The same, while each of them goes on as far as it can without waiting for anything else. */
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

/** Whether those who have waited for that end go on now, and each of them has waited for nothing else since. */
export function goOnInStep(end: Promise<void>): boolean {
  return end === inStep
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
