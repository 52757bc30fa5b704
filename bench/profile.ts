import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Inspector } from './inspector.ts'
import { newKeys } from './keys.ts'
import { type Load, load } from './load.ts'
import { serverCore } from './machine.ts'
import { freePort, type Running, start } from './server-process.ts'
import { type Server, source } from './servers.ts'
import { loadOf, type Task } from './tasks.ts'

/** Where the time of a request goes: microseconds by part of the program. Watching takes some time itself. */
export type Profile = ReadonlyMap<string, number>

/** A node of V8's call tree (https://chromedevtools.github.io/devtools-protocol/tot/Profiler/). */
interface Node {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string }
  readonly children?: readonly number[]
}

interface CallTree {
  readonly nodes: readonly Node[]
  /** The node that was running, each time, and how many microseconds had passed since the last one. */
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

// Microseconds.
const interval = 250
const root = `${pathToFileURL(join(import.meta.dirname, '..')).href}/`
const http = 'Node, HTTP and sockets'
const nobody = 'nobody'

// Packages that are parts of their own; the others help Koa.
const packages = ['@koa/router', 'koa-session', 'koa-bodyparser', 'koa-views', 'eta', 'pino']

/** How long servers are watched: in turns, because what else the machine does comes and goes. */
export interface Watch {
  /** Seconds until the compiler has seen enough. */
  readonly warmUp: number
  readonly rounds: number
  readonly seconds: number
}

/** Watches servers while they are loaded, by their inspectors. */
export async function measureProfiles(
  task: Task,
  servers: readonly Server[],
  { warmUp, rounds, seconds }: Watch,
): Promise<Map<Server, Profile>> {
  const keys = newKeys(task.algorithm ?? 'HS256')
  const watched: Watched[] = []
  try {
    for (const server of servers) {
      const port = await freePort()
      // Where to ask is told to whoever is on this machine; the terminal says only that somebody does.
      const inspect = [`--inspect=127.0.0.1:${port}`, '--inspect-publish-uid=http']
      const program = [...inspect, source, ...server.program]
      const running = await start({ ...server, program }, keys, { core: serverCore })
      const profile = new Map<string, number>()
      watched.push({ server, running, port, asked: loadOf(task, server, keys), profile })
    }
    for (const { running, asked } of watched) await load(running, asked, warmUp)
    for (let round = 0; round < rounds; round += 1)
      for (const each of watched) {
        for (const [part, time] of await watch(each, seconds))
          each.profile.set(part, (each.profile.get(part) ?? 0) + time / rounds)
      }
  } finally {
    await Promise.all(watched.map(({ running }) => running.stop()))
  }
  return new Map(watched.map(({ server, profile }) => [server, profile]))
}

interface Watched {
  readonly server: Server
  readonly running: Running
  readonly port: number
  readonly asked: Load
  readonly profile: Map<string, number>
}

async function watch({ running, port, asked }: Watched, seconds: number): Promise<Profile> {
  await load(running, asked, seconds)
  const inspector = await Inspector.connect(port)
  await inspector.ask('Profiler.enable')
  await inspector.ask('Profiler.setSamplingInterval', { interval })
  await inspector.ask('Profiler.start')
  const { rate } = await load(running, asked, seconds)
  const { profile } = (await inspector.ask('Profiler.stop')) as { profile: CallTree }
  await inspector.ask('Profiler.disable')
  inspector.close()
  return shares(profile, rate * seconds)
}

function shares({ nodes, samples, timeDeltas }: CallTree, requests: number): Profile {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parts = new Map<number, string>()
  const name = (node: Node, parent: string): void => {
    const part = partOf(node, parent)
    parts.set(node.id, part)
    for (const child of node.children ?? []) {
      const found = byId.get(child)
      if (found) name(found, part)
    }
  }
  const [top] = nodes
  if (top) name(top, nobody)
  const sums = new Map<string, number>()
  for (const [i, id] of samples.entries()) {
    const part = parts.get(id) ?? nobody
    if (part !== nobody) sums.set(part, (sums.get(part) ?? 0) + (timeDeltas[i] ?? 0) / requests)
  }
  return sums
}

/** What a function belongs to. One that is not written in JavaScript, SQLite's too, works for whoever has called it. */
function partOf({ callFrame: { functionName, url } }: Node, parent: string): string {
  if (functionName === '(garbage collector)') return 'collecting garbage'
  if (functionName === '(program)') return http
  if (functionName === '(idle)' || functionName === '(root)') return nobody
  if (url === '') return parent
  if (url.startsWith('node:internal/crypto')) return 'node:crypto'
  if (url.startsWith('node:')) return http
  const [, own] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? []
  if (own !== undefined) return packages.includes(own) ? own : 'Koa and what it is made of'
  const path = url.replace(root, '')
  if (path.startsWith('src/auth/')) return 'koa-authenticators, with SQLite'
  return path.startsWith('src/') ? 'the site' : 'by hand, with SQLite'
}
