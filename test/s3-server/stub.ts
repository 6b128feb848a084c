import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Keys that the server does not check. */
export const serverCredentials = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key' }

/** Starts a server in place of S3, which notes its requests. */
export async function startServer(answer: RequestListener) {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    requests,
    store: { endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1' },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Answers every request with 403. */
export const refuse: RequestListener = (_request, response) => response.writeHead(403).end()
/** Lets every request wait. */
export const neverAnswer: RequestListener = () => {}
