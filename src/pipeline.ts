import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { framingProblem } from './web/framing.ts'

type Handle = (request: IncomingMessage, response: ServerResponse) => unknown

// Browsers wait for each answer; what waits for none may still have so many at work for it.
const atOnce = 32
// What is read at once may hold thousands: whoever sends so many will read none of the answers.
const mostWaiting = 256

const pipelines = new WeakMap<object, Pipeline>()

/** Whether a connection is owed the answer to a whole request: nothing else may be sent before it (RFC 9112 §9.3.2). */
export function isOwedAnswer(socket: object): boolean {
  return pipelines.get(socket)?.isOwedAnswer ?? false
}

/** Hands on the requests of each connection so that only so many are at work at once, however many were sent at once. */
export function pipelined(handle: Handle): Handle {
  return (request, response) => {
    const { socket } = request
    const pipeline = pipelines.get(socket) ?? new Pipeline(socket, handle)
    pipelines.set(socket, pipeline)
    pipeline.add(request, response)
  }
}

/** The requests of a connection whose client does not wait for answers (RFC 9112 §9.3.2). */
class Pipeline {
  readonly #socket: Socket
  readonly #handle: Handle
  // Nothing more is read while anything waits.
  readonly #waiting: [IncomingMessage, ServerResponse][] = []
  readonly #atWork = new Set<IncomingMessage>()
  #isOver = false

  constructor(socket: Socket, handle: Handle) {
    this.#socket = socket
    this.#handle = handle
    // Node resumes it by itself, when a request is complete or its body is read.
    socket.on('resume', () => this.#waiting.length > 0 && socket.pause())
    socket.once('close', () => this.#drop())
  }

  get isOwedAnswer(): boolean {
    // One that may end elsewhere is refused itself.
    if (this.#isOver) return false
    for (const { complete } of this.#atWork) if (complete) return true
    return false
  }

  add(request: IncomingMessage, response: ServerResponse): void {
    // What follows a request that may end elsewhere may be a part of it, and no request at all.
    if (this.#isOver) return
    this.#isOver = framingProblem(request) !== undefined
    this.#waiting.push([request, response])
    this.#begin()
    if (this.#waiting.length > mostWaiting) this.#hangUp()
    else if (this.#waiting.length > 0) this.#socket.pause()
  }

  #begin(): void {
    // It was the last answer: nobody would get another.
    if (!this.#socket.writable) this.#drop()
    while (this.#atWork.size < atOnce) {
      const next = this.#waiting.shift()
      if (!next) return
      this.#atWork.add(next[0])
      next[1].once('close', () => this.#end(next[0]))
      this.#handle(...next)
    }
  }

  #end(request: IncomingMessage): void {
    this.#atWork.delete(request)
    if (this.#waiting.length === 0) return
    this.#begin()
    if (this.#waiting.length === 0) this.#socket.resume()
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
