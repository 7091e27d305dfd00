import { deflateSync } from 'node:zlib'
import { afterAll, beforeAll, expect } from 'vitest'
import { imageSize } from '../../packages/tenant/src/services/files/image-size.ts'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'
import { send } from './content.ts'

let app: TestApp

beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.stop())

/** Images of 3 × 2 pixels, made by other programs. */
const IMAGES: { readonly [type: string]: string } = {
  'image/gif': 'R0lGODlhAwACAIAAAP8AAP///yH5BAAAAAAALAAAAAADAAIAAAIChF8AOw==',
  'image/webp': 'UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoDAAIAAgA0JaQAA3AA/vuUAAA=',
  'image/jpeg':
    '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wAALCAACAAMBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAA//EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AN//Z',
}

function png(width: number, height: number): Uint8Array {
  const chunk = (type: string, data: Buffer) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(data.length)
    return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)])
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(Buffer.alloc(8))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

verifies(['file.asset', 'file.asset.url'], 'the fields of an Asset follow its file unless given', async () => {
  const { body: made } = await app.request('POST', '/~acme/Asset', { name: 'Logo', alt: 'A logo' })
  const path = `/~acme/Asset/${made.$id}`

  const first = await send(app, 'POST', `${path}/file?name=logo.PNG`, png(640, 480), { 'content-type': 'image/png' })

  const url = `${made.$context}/Asset/${made.$id}/file`
  const described = { filename: 'logo.PNG', mimeType: 'image/png', extension: 'png', width: 640, height: 480, url }
  expect(first.body).toMatchObject({ ...described, size: png(640, 480).length, alt: 'A logo', $version: 2 })
  expect((await send(app, 'GET', new URL(first.body.url).pathname, null)).bytes).toHaveLength(first.body.size)
  await app.request('PUT', path, { filename: 'mine', width: 1 })
  expect((await app.request('GET', path)).body).toMatchObject({ filename: 'mine', width: 1, height: 480 })
  const text = await send(app, 'POST', `${path}/file?name=notes`, 'text', { 'content-type': 'text/plain' })
  expect(text.body).toMatchObject({ filename: 'notes', mimeType: 'text/plain', size: 4 })
  for (const field of ['extension', 'width', 'height']) expect(text.body).not.toHaveProperty(field)
  const { hash } = first.body.file
  const given = await app.request('PUT', path, { file: { hash }, filename: 'given', width: 7 })
  expect(given.body).toMatchObject({ filename: 'given', width: 7, height: 480, mimeType: 'image/png' })
  const cleared = await app.request('PUT', path, { file: null })
  for (const field of ['file', 'filename', 'mimeType', 'size', 'width', 'url'])
    expect(cleared.body).not.toHaveProperty(field)
})

verifies('file.asset', 'width and height of PNG, JPEG, GIF and WebP are found in their headers', async () => {
  for (const [type, base64] of Object.entries(IMAGES)) {
    const bytes = Buffer.from(base64, 'base64')
    expect(imageSize(bytes), type).toEqual({ width: 3, height: 2 })
    for (let length = 0; length < bytes.length; length++) {
      const cut = imageSize(bytes.subarray(0, length))
      expect(cut === null || (cut.width === 3 && cut.height === 2)).toBe(true)
    }
  }
  expect(imageSize(new TextEncoder().encode('<svg width="3"/>'))).toBeNull()
  const { body } = await app.request('POST', '/~acme/Asset', { name: 'x' })
  const sent = await send(app, 'POST', `/~acme/Asset/${body.$id}/file`, Buffer.from(IMAGES['image/jpeg']!, 'base64'))
  expect(sent.body).toMatchObject({ width: 3, height: 2 })
})
