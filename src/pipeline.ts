import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Slot } from '#auth'
import { framingProblem } from './web/framing.ts'

type Handle = (request: IncomingMessage, response: ServerResponse) => unknown

// Browsers wait for each answer; what waits for none may still have so many at work for it.
const atOnce = 32
// What is read at once may hold thousands: whoever sends so many will read none of the answers.
const mostWaiting = 256

const pipelines = new Slot<Pipeline>('pipeline')

/** Whether a connection is owed the answer to a whole request: nothing else may be sent before it (RFC 9112 §9.3.2). */
export function isOwedAnswer(socket: object): boolean {
  return pipelines.get(socket)?.isOwedAnswer ?? false
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
  #begun: ServerResponse[] = []
  readonly #watched = new WeakSet<ServerResponse>()
  #isOver = false

  constructor(socket: Socket, handle: Handle) {
    this.#socket = socket
    this.#handle = handle
    pipelines.set(socket, this)
    // Node resumes it by itself, when a request is complete or its body is read.
    socket.on('resume', () => this.#waiting.length > 0 && socket.pause())
    socket.once('close', () => this.#drop())
  }

  get underWay(): readonly ServerResponse[] {
    if (this.#begun.some(({ closed }) => closed)) this.#begun = this.#begun.filter(({ closed }) => !closed)
    return this.#begun
  }

  get isOwedAnswer(): boolean {
    // One that may end elsewhere is refused itself.
    return !this.#isOver && this.underWay.some(({ req }) => req.complete)
  }

  add(request: IncomingMessage, response: ServerResponse): void {
    // What follows a request that may end elsewhere may be a part of it, and no request at all.
    if (this.#isOver) return
    this.#isOver = framingProblem(request) !== undefined
    this.#waiting.push([request, response])
    this.#begin()
    if (this.#waiting.length > mostWaiting) this.#hangUp()
    else if (this.#waiting.length > 0) this.#wait()
  }

  #begin(): void {
    // It was the last answer: nobody would get another.
    if (!this.#socket.writable) this.#drop()
    while (this.#waiting.length > 0 && this.underWay.length < atOnce) {
      const [request, response] = this.#waiting.shift() as [IncomingMessage, ServerResponse]
      this.#begun.push(response)
      this.#handle(request, response)
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
    this.#begin()
    if (this.#waiting.length > 0) this.#wait()
    else this.#socket.resume()
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
