export { type FakeS3, type S3Options, startS3 } from "./server.ts";
