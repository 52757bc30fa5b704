import { type AddressInfo, Server } from 'node:net'

// Loaded before a program. Makes it listen on a free port instead of 3000, and print its URL for the test.
const { listen } = Server.prototype

Object.assign(Server.prototype, {
  listen(this: Server) {
    return listen.call(this, 0, () => {
      const { port } = this.address() as AddressInfo
      console.log(`http://localhost:${port}`)
    })
  },
})
