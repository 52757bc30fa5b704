// Better Auth on `node:http` with its bearer plugin, as in its documentation for Node.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node'
import { authOn } from './better-auth-options.ts'
import { databasePath, host, port } from './environment.ts'

const auth = authOn(databasePath)
const handle = toNodeHandler(auth)

createServer(async (request, response) => {
  if (request.url?.startsWith('/api/auth/')) return handle(request, response)
  if (request.url === '/healthz') return response.end('ok')
  if (request.url === '/me') return me(request, response)
  response.writeHead(404).end()
}).listen(port, host)

async function me(request: IncomingMessage, response: ServerResponse) {
  const found = await auth.api.getSession({ headers: fromNodeHeaders(request.headers) })
  if (!found) return response.writeHead(401).end()
  const { id, name, email } = found.user
  response.setHeader('Content-Type', 'application/json')
  response.end(JSON.stringify({ id, name, email }))
}
