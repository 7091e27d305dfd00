import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** A bare pipe between HTTP and one file, with SHA-256 on the way: what the files of the service are compared with. */
const path = join(process.argv[2]!, 'content')

const server = createServer(async (request, response) => {
  const hash = createHash('sha256')
  const hashing = new Transform({
    transform(chunk, _, done) {
      hash.update(chunk)
      done(null, chunk)
    },
  })
  if (request.method === 'POST') {
    await pipeline(request, hashing, createWriteStream(path, { flush: true }))
    response.end(hash.digest('hex'))
  } else {
    await pipeline(createReadStream(path, { highWaterMark: 262_144 }), hashing, response)
  }
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`)
})
