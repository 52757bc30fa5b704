import { type AddressInfo, Server } from 'node:net'

// Loaded before a program that listens on 3000: it gets a free port, and prints its URL for the test.
const { listen } = Server.prototype

Object.assign(Server.prototype, {
  listen(this: Server) {
    return listen.call(this, 0, () => {
      const { port } = this.address() as AddressInfo
      console.log(`http://localhost:${port}`)
    })
  },
})
