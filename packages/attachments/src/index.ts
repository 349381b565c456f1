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
export {
  createUploads,
  type UploadAdded,
  type UploadName,
  type UploadPiece,
  type Uploads,
  type UploadsOptions,
} from "./uploads.ts";
