/**
 * Node's HTTP. An `import` reads every property of a built-in module, and some properties of this one load Node's fetch
 * and HTTP/2: 70 ms and 15 MiB in each thread, used or not.
 */
export const http = process.getBuiltinModule('node:http')
