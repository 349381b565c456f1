import { isAcceptedImage, readImageInfo, reasonOf } from "@signalbox/agent-core";
import { deadline, getAllMedia, type MediaRef } from "@signalbox/channel";
import type { ByteBudget, ByteShare } from "./byte-budget.ts";
import { isReadable, MAX_PDF_BYTES, MAX_SHOWN_BYTES } from "./for-model.ts";
import { mediaTypeOf } from "./media-type.ts";
import type { AttachmentAccount, AttachmentLogger, Inspector, Recording, Transcriber } from "./ports.ts";
import { readBody } from "./read-body.ts";
import type { MessageWithFiles, ReceivedFile } from "./received.ts";

/** For all attachments of one message together, in milliseconds. */
const FETCH_MS = 20_000;
/** Of one message. */
const MAX_FILES = 20;
/** Of one message. */
const AT_A_TIME = 4;
const MAX_FILE_BYTES = 25_000_000;
/** For one recording, in milliseconds. */
const TRANSCRIBE_MS = 60_000;
/** Of one message: each costs money. */
const MAX_TRANSCRIPTS = 3;

export interface ReceivePorts {
  readonly account: (channel: string, account: string) => AttachmentAccount | undefined;
  /** Keeps bytes in the folder of a conversation of an agent; gives their path. */
  readonly keep: (agentId: string, keptIn: string, bytes: Uint8Array, extension: string) => Promise<string>;
  readonly memory: ByteBudget;
  /** Undefined: recordings are only named. */
  readonly transcriber: (message: MessageWithFiles) => Transcriber | undefined;
  readonly inspector: Inspector;
  readonly logger: AttachmentLogger;
}

/** Fetches the attachments of one message, in order, and keeps them. Never rejects. */
export async function receiveFiles(
  ports: ReceivePorts,
  message: MessageWithFiles,
): Promise<readonly ReceivedFile[]> {
  const media = getAllMedia(message.event);
  const limit = deadline(FETCH_MS);
  const wanted = media.slice(0, MAX_FILES).map((ref) => ({ ref, share: ports.memory.enter() }));
  const files: ReceivedFile[] = [];
  const queue = wanted.entries();
  const writeDown = createWriteDown(ports, message);
  let heldBytes = 0;
  const work = async (): Promise<void> => {
    for (const [index, { ref, share }] of queue) {
      const { bytes, ...described } = await receiveFile(ports, message, ref, {
        share,
        signal: limit.signal,
        writeDown,
      });
      // Of one message no more is held than a model is shown at most.
      const held = bytes !== undefined && heldBytes + bytes.byteLength <= MAX_SHOWN_BYTES;
      files[index] = held ? { ...described, bytes } : described;
      if (held) {
        heldBytes += bytes.byteLength;
        share.done();
      } else share.leave();
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  limit.end();
  for (const { share } of wanted) share.leave();
  const rest = media.slice(MAX_FILES).map(({ kind, mimeType }) => ({
    kind,
    mimeType: safeMimeType(mimeType),
    note: `not fetched: more than ${MAX_FILES} attachments`,
  }));
  return [...files, ...rest];
}

interface Receiving {
  readonly share: ByteShare;
  /** Ends the fetching. */
  readonly signal: AbortSignal;
  readonly writeDown: WriteDown;
}

async function receiveFile(
  ports: ReceivePorts,
  message: MessageWithFiles,
  ref: MediaRef,
  { share, signal, writeDown }: Receiving,
): Promise<ReceivedFile> {
  const named = { kind: ref.kind, ...(ref.name === undefined ? {} : { name: ref.name }) };
  const declared = { ...named, mimeType: safeMimeType(ref.mimeType) };
  const fetched = await fetchFile(ports, message, ref, share, signal);
  if ("note" in fetched) return { ...declared, note: fetched.note };
  const { bytes } = fetched;
  const { mimeType, extension } = await mediaTypeOf(bytes, ref.name, ports.inspector);
  const whole = { ...named, mimeType, ...(await readable(ports.inspector, bytes, mimeType, signal)) };
  const { agentId, keptIn } = message;
  if (keptIn === undefined) return whole;
  const file = { ...whole, ...(await writeDown({ bytes, mimeType, extension })) };
  try {
    return { ...file, path: await ports.keep(agentId, keptIn, bytes, extension) };
  } catch (error) {
    ports.logger.warn({ agent: agentId, err: reasonOf(error) }, "an attachment could not be kept");
    return { ...file, note: ["could not be kept", file.note ?? []].flat().join("; ") };
  }
}

/** What a model can be shown of a file, or why that is nothing. */
async function readable(
  inspector: Inspector,
  bytes: Buffer,
  mimeType: string,
  signal: AbortSignal,
): Promise<Pick<ReceivedFile, "bytes" | "note">> {
  const picture = readImageInfo(bytes);
  if (picture === undefined) return isReadable(mimeType, bytes) ? { bytes } : {};
  const fitted = await inspector.fitPicture?.(bytes, picture, signal);
  if (fitted !== undefined) return { bytes: Buffer.from(fitted.bytes) };
  if (isAcceptedImage(picture, bytes.byteLength)) return { bytes };
  const { width = 0, height = 0 } = picture;
  return { note: width * height === 0 ? "not shown: its size is unknown" : "too large to be shown" };
}

/** What is said in a recording, or why nobody knows; nothing of what is none. */
type WriteDown = (recording: Recording) => Promise<Pick<ReceivedFile, "transcript" | "note">>;

/** For the recordings of one message. Those of guests are not written down: anybody could have it paid for. */
function createWriteDown(
  { transcriber: transcriberOf, logger }: ReceivePorts,
  message: MessageWithFiles,
): WriteDown {
  const transcriber = transcriberOf(message);
  let left = MAX_TRANSCRIPTS;
  return async (recording) => {
    if (transcriber === undefined || !/^(audio|video)\//.test(recording.mimeType)) return {};
    if (left === 0) return { note: "not written down: there are several recordings" };
    left -= 1;
    const limit = deadline(TRANSCRIBE_MS);
    try {
      const text = await transcriber.transcribe(recording, limit.signal);
      return { transcript: { text, by: transcriber.name } };
    } catch (error) {
      logger.warn({ by: transcriber.name, err: reasonOf(error) }, "a recording could not be transcribed");
      return { note: "its speech could not be transcribed" };
    } finally {
      limit.end();
    }
  };
}

/** The bytes, or why there are none. */
async function fetchFile(
  { account, logger }: ReceivePorts,
  { event, keptIn }: MessageWithFiles,
  ref: MediaRef,
  share: ByteShare,
  signal: AbortSignal,
): Promise<{ readonly bytes: Buffer } | { readonly note: string }> {
  const { definition, running } = account(event.channel, event.account) ?? {};
  if (running?.fetchMedia === undefined) return { note: "could not be fetched" };
  // What is not kept is only for the model, which is shown no more.
  const largest = keptIn === undefined ? MAX_PDF_BYTES : MAX_FILE_BYTES;
  const most = Math.min(definition?.capabilities.media?.maxBytes ?? 0, largest);
  const tooLarge = { note: `not fetched: over ${most} bytes` };
  if ((ref.size ?? 0) > most) return tooLarge;
  try {
    signal.throwIfAborted();
    const { body, size } = await running.fetchMedia(ref, signal);
    const bytes = await readBody(body, { limit: most, size: size ?? ref.size, share, signal });
    return bytes === undefined ? tooLarge : { bytes };
  } catch (error) {
    logger.warn({ message: event.messageId, err: reasonOf(error) }, "an attachment could not be fetched");
    return { note: "could not be fetched" };
  }
}

/** A type as it may be shown; senders can make their platforms say anything. */
function safeMimeType(mimeType: string): string {
  const bare = (mimeType.split(";")[0] ?? "").trim().toLowerCase();
  return /^[a-z0-9.+-]{1,60}\/[a-z0-9.+-]{1,60}$/.test(bare) ? bare : "application/octet-stream";
}
