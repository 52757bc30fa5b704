import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { framingProblem } from './framing.ts'

type Handle = (request: IncomingMessage, response: ServerResponse) => unknown

// Browsers wait for each answer; what waits for none may still have so many at work for it.
const atOnce = 32
// What is read at once may hold thousands: whoever sends so many will read none of the answers.
const mostWaiting = 256

const pipelines = new WeakMap<object, Pipeline>()

/**
 * Has a connection end with the answers to the whole requests that came by it, before which nothing else may be sent
 * (RFC 9112 §9.3.2): what came behind them is not begun (§9.6). Tells whether there are any answers to come.
 */
export function endWithAnswers(socket: object): boolean {
  return pipelines.get(socket)?.end() ?? false
}

/** The answers of a connection that are under way. */
export function answersUnderWay(socket: object): readonly ServerResponse[] {
  return pipelines.get(socket)?.underWay ?? []
}

/** Hands on the requests of each connection so that only so many are at work at once, however many were sent at once. */
export function pipelined(handle: Handle): Handle {
  return (request, response) => {
    const { socket } = request
    const pipeline = pipelines.get(socket) ?? new Pipeline(socket, handle)
    pipeline.add(request, response)
  }
}

/** The requests of a connection whose client does not wait for answers (RFC 9112 §9.3.2). */
class Pipeline {
  readonly #socket: Socket
  readonly #handle: Handle
  // Nothing more is read while anything waits.
  readonly #waiting: [IncomingMessage, ServerResponse][] = []
  // With those that have ended since anybody looked: to be told of each end would cost every request.
  readonly #begun: ServerResponse[] = []
  readonly #watched = new WeakSet<ServerResponse>()
  #isOver = false
  #last: ServerResponse | undefined

  constructor(socket: Socket, handle: Handle) {
    this.#socket = socket
    this.#handle = handle
    pipelines.set(socket, this)
    // Node resumes it by itself, when a request is complete or its body is read.
    socket.on('resume', () => this.#waiting.length > 0 && socket.pause())
    socket.once('close', () => this.#drop())
  }

  get underWay(): readonly ServerResponse[] {
    // They end in their order.
    while (this.#begun[0]?.closed) this.#begun.shift()
    return this.#begun
  }

  add(request: IncomingMessage, response: ServerResponse): void {
    // What follows a request that may end elsewhere may be a part of it, and no request at all.
    if (this.#isOver) return
    this.#isOver = framingProblem(request) !== undefined
    // Most clients wait for each answer.
    if (this.#waiting.length === 0 && this.#isFree) this.#begin(request, response)
    else if (this.#waiting.push([request, response]) > mostWaiting) this.#hangUp()
    else this.#wait()
  }

  end(): boolean {
    this.#isOver = true
    // Of the last one, half may be missing.
    if (this.#waiting.at(-1)?.[0].complete === false) this.#waiting.pop()
    const owed = [...this.underWay.filter(isOwed), ...this.#waiting.map(([, response]) => response)]
    const last = owed.at(-1)
    if (last && last !== this.#last) {
      this.#last = last
      last.shouldKeepAlive = false
      // Its header may have promised otherwise already.
      last.once('close', () => this.#socket.destroySoon())
    }
    return last !== undefined
  }

  get #isFree(): boolean {
    return this.underWay.length < atOnce
  }

  #begin(request: IncomingMessage, response: ServerResponse): void {
    if (this.#socket.writable) {
      this.#begun.push(response)
      this.#handle(request, response)
    } else {
      // It was the last answer: nobody would get another.
      this.#drop()
    }
  }

  #wait(): void {
    this.#socket.pause()
    for (const response of this.#begun) {
      if (this.#watched.has(response)) continue
      this.#watched.add(response)
      response.once('close', () => this.#goOn())
    }
  }

  #goOn(): void {
    if (this.#waiting.length === 0) return
    for (let next = this.#next(); next; next = this.#next()) this.#begin(...next)
    if (this.#waiting.length > 0) this.#wait()
    else this.#socket.resume()
  }

  #next(): [IncomingMessage, ServerResponse] | undefined {
    return this.#isFree ? this.#waiting.shift() : undefined
  }

  #hangUp(): void {
    this.#drop()
    this.#socket.destroy()
  }

  #drop(): void {
    this.#isOver = true
    this.#waiting.length = 0
  }
}

/** Of half a request, only an answer that has begun already. */
function isOwed({ req, headersSent }: ServerResponse): boolean {
  return req.complete || headersSent
}
