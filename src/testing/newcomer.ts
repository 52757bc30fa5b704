import type { OutgoingHttpHeaders } from 'node:http'
import { Visitor } from './visitor.ts'

/** A visitor who takes another connection for each request: of several processes, another one may answer. */
export class Newcomer extends Visitor {
  override open(method: string, path: string, headers?: OutgoingHttpHeaders) {
    return super.open(method, path, { ...headers, connection: 'close' })
  }
}
