import { type AddressInfo, Server } from 'node:net'

// Loaded before the README's program, which listens on 3000 and says nothing: it gets a free port, and the test its URL.
const { listen } = Server.prototype

Object.assign(Server.prototype, {
  listen(this: Server) {
    return listen.call(this, 0, () => {
      const { port } = this.address() as AddressInfo
      console.log(`http://localhost:${port}`)
    })
  },
})
