import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { createServer, type TLSSocket } from 'node:tls'

/**
 * The file of a key and of a certificate signed with it, for 127.0.0.1, localhost and host names
 * below `dashkeep.test`; valid at any time.
 */
export const ownAuthorityFile = join(import.meta.dirname, 'own-authority.pem')
export const ownAuthority = readFileSync(ownAuthorityFile, 'utf8')

/** TLS before a server that has none. */
export interface TlsFront extends AsyncDisposable {
  readonly port: number
}

/** Passes on what comes over TLS to the server at an address, and back. */
export async function startTlsFront(address: string): Promise<TlsFront> {
  const target = Number(new URL(address).port)
  const sockets = new Set<TLSSocket>()
  const server = createServer({ key: ownAuthority, cert: ownAuthority }, (socket) => {
    sockets.add(socket)
    const upstream = connect(target, '127.0.0.1')
    socket.on('error', () => {}).on('close', () => upstream.destroy())
    upstream.on('error', () => {}).on('close', () => socket.destroy())
    socket.pipe(upstream).pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
