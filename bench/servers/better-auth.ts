// Better Auth on `node:http`, as its manual says for Node: `auth.api.getSession` with the headers of the request, and its
// bearer plugin. Its tables are its own, and its bearer tokens are its sessions.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node'
import { authOn } from './better-auth-options.ts'
import { databasePath, host, port } from './environment.ts'
import { accountPage, loginPage } from './pages.ts'

const auth = authOn(databasePath)
const handle = toNodeHandler(auth)

createServer(async (request, response) => {
  if (request.url?.startsWith('/api/auth/')) return handle(request, response)
  if (request.url === '/healthz') return response.end('ok')
  if (request.url === '/me') return me(request, response)
  if (request.url === '/account') return account(request, response)
  if (request.url === '/login') return login(request, response)
  response.writeHead(404).end()
}).listen(port, host)

async function me(request: IncomingMessage, response: ServerResponse) {
  const found = await auth.api.getSession({ headers: fromNodeHeaders(request.headers) })
  if (!found) return response.writeHead(401).end()
  const { id, name, email } = found.user
  send(response, 'application/json', JSON.stringify({ id, name, email }))
}

async function account(request: IncomingMessage, response: ServerResponse) {
  const found = await auth.api.getSession({ headers: fromNodeHeaders(request.headers) })
  if (!found) return response.writeHead(302, { Location: '/login' }).end()
  const { name, email, passwordChangedAt } = found.user
  const page = accountPage({ name, email, passwordChangedAt: passwordChangedAt.getTime() })
  send(response, 'text/html; charset=utf-8', page)
}

async function login(request: IncomingMessage, response: ServerResponse) {
  const found = await auth.api.getSession({ headers: fromNodeHeaders(request.headers) })
  if (found) return response.writeHead(302, { Location: '/account' }).end()
  send(response, 'text/html; charset=utf-8', loginPage())
}

// Without `writeHead`, Node knows the length by then.
function send(response: ServerResponse, type: string, body: string): void {
  response.setHeader('Content-Type', type)
  response.end(body)
}
