import { Server } from 'node:http'
import { mock } from 'node:test'

// Loaded before a program: the header `x-minutes-later` moves the clock of the program forward before the program handles the request.
mock.timers.enable({ apis: ['Date'], now: Date.now() })
const { emit } = Server.prototype

Object.assign(Server.prototype, {
  emit(this: Server, event: string, ...values: unknown[]) {
    const [request] = values as [{ headers: NodeJS.Dict<string> } | undefined]
    const minutes = event === 'request' ? request?.headers['x-minutes-later'] : undefined
    if (minutes) mock.timers.tick(Number(minutes) * 60_000)
    return Reflect.apply(emit, this, [event, ...values])
  },
})
