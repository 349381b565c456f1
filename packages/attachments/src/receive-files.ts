import { isAcceptedImage, readImageInfo, reasonOf } from "@signalbox/agent-core";
import { deadline, getAllMedia, type MediaRef } from "@signalbox/channel";
import type { ByteBudget, ByteShare } from "./byte-budget.ts";
import { isReadable, MAX_PDF_BYTES, MAX_SHOWN_BYTES } from "./media-for-model.ts";
import { detectMediaType } from "./media-type.ts";
import { readBody } from "./read-body.ts";
import type { MessageWithFiles, ReceivedFile } from "./received-file.ts";
import type { AttachmentAccount, AttachmentLogger, Inspector, Recording, Transcriber } from "./types.ts";

/** Time limit for all attachments of one message, in milliseconds. */
const FETCH_TIMEOUT_MS = 20_000;
/** Limits per message. */
const MAX_FILES = 20;
const MAX_CONCURRENT = 4;
const MAX_FILE_BYTES = 25_000_000;
/** Time limit for one recording, in milliseconds. */
const TRANSCRIBE_TIMEOUT_MS = 60_000;
/** Limit per message, because each transcript costs money. */
const MAX_TRANSCRIPTS = 3;

export interface ReceivePorts {
  readonly account: (channel: string, account: string) => AttachmentAccount | undefined;
  /** Stores bytes in the folder of a conversation and returns their path. */
  readonly store: (
    agentId: string,
    conversation: string,
    bytes: Uint8Array,
    extension: string,
  ) => Promise<string>;
  readonly memory: ByteBudget;
  /** Returns `undefined` to leave recordings without a transcript. */
  readonly transcriber: (message: MessageWithFiles) => Transcriber | undefined;
  readonly inspector: Inspector;
  readonly logger: AttachmentLogger;
}

/** Downloads and stores the attachments of one message. Never rejects. */
export async function receiveFiles(
  ports: ReceivePorts,
  message: MessageWithFiles,
): Promise<readonly ReceivedFile[]> {
  const media = getAllMedia(message.event);
  const limit = deadline(FETCH_TIMEOUT_MS);
  const wanted = media.slice(0, MAX_FILES).map((ref) => ({ ref, share: ports.memory.enter() }));
  const files: ReceivedFile[] = [];
  const queue = wanted.entries();
  const transcribe = createTranscribe(ports, message);
  let heldBytes = 0;
  const work = async (): Promise<void> => {
    for (const [index, { ref, share }] of queue) {
      const { bytes, ...described } = await receiveFile(ports, message, ref, {
        share,
        signal: limit.signal,
        transcribe,
      });
      // The bytes of a message are kept in memory only if they can be shown to a model.
      const isHeld = bytes !== undefined && heldBytes + bytes.byteLength <= MAX_SHOWN_BYTES;
      files[index] = isHeld ? { ...described, bytes } : described;
      if (isHeld) {
        heldBytes += bytes.byteLength;
        share.done();
      } else share.leave();
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, work));
  limit.end();
  for (const { share } of wanted) share.leave();
  const rest = media.slice(MAX_FILES).map(({ kind, mimeType }) => ({
    kind,
    mimeType: safeMimeType(mimeType),
    note: `not fetched, because the message has more than ${MAX_FILES} attachments`,
  }));
  return [...files, ...rest];
}

interface Receiving {
  readonly share: ByteShare;
  readonly signal: AbortSignal;
  readonly transcribe: Transcribe;
}

async function receiveFile(
  ports: ReceivePorts,
  message: MessageWithFiles,
  ref: MediaRef,
  { share, signal, transcribe }: Receiving,
): Promise<ReceivedFile> {
  const named = { kind: ref.kind, name: ref.name };
  const declared = { ...named, mimeType: safeMimeType(ref.mimeType) };
  const fetched = await fetchFile(ports, message, ref, share, signal);
  if ("note" in fetched) return { ...declared, note: fetched.note };
  const { bytes } = fetched;
  const { mimeType, extension } = await detectMediaType(bytes, ref.name, ports.inspector);
  const complete = { ...named, mimeType, ...(await toReadable(ports.inspector, bytes, mimeType, signal)) };
  const { agentId, folder = agentId, conversation } = message;
  if (conversation === undefined) return complete;
  const file = { ...complete, ...(await transcribe({ bytes, mimeType, extension })) };
  try {
    return { ...file, path: await ports.store(folder, conversation, bytes, extension) };
  } catch (error) {
    ports.logger.warn({ agent: agentId, err: reasonOf(error) }, "an attachment could not be stored");
    return { ...file, note: ["could not be stored", file.note ?? []].flat().join("; ") };
  }
}

/** Returns the bytes for the model, or a note with the reason why it gets no bytes. */
async function toReadable(
  inspector: Inspector,
  bytes: Buffer,
  mimeType: string,
  signal: AbortSignal,
): Promise<Pick<ReceivedFile, "bytes" | "note">> {
  const image = readImageInfo(bytes);
  if (image === undefined) return isReadable(mimeType, bytes, inspector) ? { bytes } : {};
  const fitted = await inspector.fitImage?.(bytes, image, signal);
  if (fitted !== undefined) return { bytes: Buffer.from(fitted.bytes) };
  if (isAcceptedImage(image, bytes.byteLength)) return { bytes };
  const { width = 0, height = 0 } = image;
  return { note: width * height === 0 ? "not shown, because its size is unknown" : "too large to be shown" };
}

/** Returns the transcript of a recording, or a note if transcription failed. Returns neither for other files. */
type Transcribe = (recording: Recording) => Promise<Pick<ReceivedFile, "transcript" | "note">>;

/**
 * Creates a function for the recordings of one message. Recordings from guests are not transcribed, because
 * transcription costs money.
 */
function createTranscribe(
  { transcriber: transcriberOf, logger }: ReceivePorts,
  message: MessageWithFiles,
): Transcribe {
  const transcriber = transcriberOf(message);
  let left = MAX_TRANSCRIPTS;
  return async (recording) => {
    if (transcriber === undefined || !/^(audio|video)\//.test(recording.mimeType)) return {};
    if (left === 0) return { note: "not transcribed, because the message has several recordings" };
    left -= 1;
    const limit = deadline(TRANSCRIBE_TIMEOUT_MS);
    try {
      const text = await transcriber.transcribe(recording, limit.signal);
      return { transcript: { text, by: transcriber.name } };
    } catch (error) {
      logger.warn({ by: transcriber.name, err: reasonOf(error) }, "a recording could not be transcribed");
      return { note: "could not be transcribed" };
    } finally {
      limit.end();
    }
  };
}

/** Downloads an attachment. Returns its bytes, or a note with the reason of the failure. */
async function fetchFile(
  { account, logger }: ReceivePorts,
  { event, conversation }: MessageWithFiles,
  ref: MediaRef,
  share: ByteShare,
  signal: AbortSignal,
): Promise<{ readonly bytes: Buffer } | { readonly note: string }> {
  const { definition, running } = account(event.channel, event.account) ?? {};
  if (running?.fetchMedia === undefined) return { note: "could not be fetched" };
  // A file that is not stored is used only by the model, which accepts less.
  const largest = conversation === undefined ? MAX_PDF_BYTES : MAX_FILE_BYTES;
  const limit = Math.min(definition?.capabilities.media?.maxBytes ?? 0, largest);
  const tooLarge = { note: `not fetched, because it is larger than ${limit} bytes` };
  if ((ref.size ?? 0) > limit) return tooLarge;
  try {
    signal.throwIfAborted();
    const { body, size } = await running.fetchMedia(ref, signal);
    const bytes = await readBody(body, { limit, size: size ?? ref.size, share, signal });
    return bytes === undefined ? tooLarge : { bytes };
  } catch (error) {
    logger.warn({ message: event.messageId, err: reasonOf(error) }, "an attachment could not be fetched");
    return { note: "could not be fetched" };
  }
}

/** Returns a declared type if it is well-formed. Senders control it. */
function safeMimeType(mimeType: string): string {
  const bare = (mimeType.split(";")[0] ?? "").trim().toLowerCase();
  return /^[a-z0-9.+-]{1,60}\/[a-z0-9.+-]{1,60}$/.test(bare) ? bare : "application/octet-stream";
}
