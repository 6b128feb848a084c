import { once } from 'node:events'

type Members = Record<string, unknown>

/** A connection that speaks WebDriver BiDi. */
export interface Bidi {
  /** Sends a command and returns its result. Rejects with what the browser says against it. */
  send(method: string, params: Members): Promise<Members>
}

/** Connects to a browser. `onEvent` gets the events that were subscribed to. */
export async function connectBidi(
  endpoint: string,
  onEvent: (method: string, params: Members) => void,
): Promise<Bidi> {
  const socket = new WebSocket(endpoint)
  const waiting = new Map<number, PromiseWithResolvers<Members>>()
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data))
    const command = waiting.get(message.id)
    waiting.delete(message.id)
    if (message.type === 'event') onEvent(message.method, message.params)
    else if (message.type === 'success') command?.resolve(message.result)
    else command?.reject(new Error(`${message.error}: ${message.message}`))
  })
  socket.addEventListener('close', () => {
    for (const command of waiting.values()) command.reject(new Error('the browser has ended'))
  })
  await once(socket, 'open')
  let last = 0
  return {
    send(method, params) {
      last += 1
      const command = Promise.withResolvers<Members>()
      waiting.set(last, command)
      socket.send(JSON.stringify({ id: last, method, params }))
      return command.promise
    },
  }
}
