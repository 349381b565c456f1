export { type Blobs, createBlobs } from "./blobs.ts";
export {
  type AttachmentCrashes,
  type CarryingMessage,
  type CrashNotes,
  createAttachmentCrashes,
} from "./crashes.ts";
export type { FileForModel, MediaForModel } from "./for-model.ts";
export { INBOX_FOLDER, type InboxLimits } from "./inbox-folder.ts";
export { createIncoming, type Incoming, type IncomingOptions } from "./incoming.ts";
export {
  createOutgoing,
  type MayAttach,
  type Outgoing,
  type OutgoingOptions,
  type WantedMedia,
} from "./outgoing.ts";
export type {
  AttachmentAccount,
  AttachmentLogger,
  FetchUrl,
  Folder,
  Inspector,
  OpenFile,
  Recording,
  Transcriber,
} from "./ports.ts";
export { blobsOf, pruneBlobs } from "./prune.ts";
export {
  attachmentNote,
  isUntrusted,
  type MessageWithFiles,
  type ReceivedFile,
  type Transcript,
} from "./received.ts";
export {
  createUploads,
  type UploadAdded,
  type UploadName,
  type UploadPiece,
  type Uploads,
  type UploadsOptions,
} from "./uploads.ts";
