// What dashkeep uses of undici. Its index loads five times as much, which no bundler can take apart.
import request from 'undici/lib/api/api-request.js'
import Pool from 'undici/lib/dispatcher/pool.js'

Pool.prototype.request = request

export { Pool }
