export { type Blobs, createBlobs } from "./blobs.ts";
export {
  type AttachmentCrashes,
  type CarryingMessage,
  type CrashNotes,
  createAttachmentCrashes,
} from "./crashes.ts";
export { INBOX_FOLDER, type InboxLimits } from "./inbox-folder.ts";
export { createIncoming, type Incoming, type IncomingOptions } from "./incoming.ts";
export type { FileForModel, MediaForModel } from "./media-for-model.ts";
export { detectAudio } from "./media-type.ts";
export { createObjectBlobs } from "./object-blobs.ts";
export { createObjectUploads, type ObjectUploadsOptions } from "./object-uploads.ts";
export {
  createOutgoing,
  type MayAttach,
  type Outgoing,
  type OutgoingOptions,
  type RequestedMedia,
} from "./outgoing.ts";
export { getBlobIds, pruneBlobs } from "./prune-blobs.ts";
export {
  formatAttachment,
  isUntrusted,
  type MessageWithFiles,
  type ReceivedFile,
  type Transcript,
} from "./received-file.ts";
export { openS3Objects, type S3ObjectsOptions } from "./s3-objects.ts";
export type {
  AttachmentAccount,
  AttachmentLogger,
  FetchUrl,
  Folder,
  Inspector,
  OpenFile,
  Recording,
  Transcriber,
} from "./types.ts";
export type { UploadAdded, UploadLimits, UploadName, UploadPiece, Uploads } from "./upload-contract.ts";
export { createUploads, type UploadsOptions } from "./uploads.ts";
