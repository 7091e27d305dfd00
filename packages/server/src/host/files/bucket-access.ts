export { readBucket } from '../settings/file-settings.ts'
export { Bucket, BucketRefusal } from './bucket.ts'
