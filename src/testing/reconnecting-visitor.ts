import type { OutgoingHttpHeaders } from 'node:http'
import { Visitor } from './visitor.ts'

/** A visitor with a new connection for each request, so that several workers respond. */
export class ReconnectingVisitor extends Visitor {
  override open(method: string, path: string, headers?: OutgoingHttpHeaders) {
    return super.open(method, path, { ...headers, connection: 'close' })
  }
}
