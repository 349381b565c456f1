import { reasonOf } from "@signalbox/agent-core";
import {
  type Capabilities,
  ChannelError,
  deadline,
  type MediaPart,
  type SendOptions,
} from "@signalbox/channel";
import { type Phrases, phrasesIn } from "@signalbox/phrases";
import type { Blobs } from "./blobs.ts";
import { kindOf, mediaTypeOf } from "./media-type.ts";
import { type AttachmentLogger, codeOf, type FetchUrl, type Folder, type Inspector } from "./ports.ts";

/** The requested attachments. */
export interface WantedMedia {
  /** Paths in the workspace, or URLs. */
  readonly sources: readonly string[];
  /** Audio is to be heard as a spoken message. */
  readonly voice: boolean;
}

/** Whether a run may give a file or page to people; `why` is for the log and the model. */
export type MayAttach = (
  what: { readonly file: string } | { readonly url: string },
) => Promise<{ readonly ok: true } | { readonly ok: false; readonly why: string }>;

/** What can be attached, and what is to be said of the rest. */
interface PreparedMedia {
  readonly parts: readonly MediaPart[];
  /** For people, one for each that cannot be attached. */
  readonly lines: readonly string[];
}

/** What people are told about a file that is not sent. */
type FilePhrases = Pick<Phrases, "fileNotSent" | "whyNotSent">;

/** What is to be attached, by whom and where. */
interface AttachRequest {
  readonly wanted: WantedMedia;
  readonly agentId: string;
  readonly capabilities: Pick<Capabilities, "sendMedia">;
  readonly mayAttach: MayAttach;
  readonly phrases: FilePhrases;
  readonly signal: AbortSignal;
}

/** Makes files and pages ready to be sent. */
export interface Outgoing {
  /**
   * Copies what is wanted into blobs, so that every try sends the same bytes, whatever becomes of the file. Never
   * rejects. Undefined where `signal` fired before all of it was there.
   */
  prepare(request: AttachRequest): Promise<PreparedMedia | undefined>;
  /** The bytes of a part, for a channel that sends it. */
  readonly open: NonNullable<SendOptions["openMedia"]>;
}

export interface OutgoingOptions {
  readonly blobs: Blobs;
  /** The folder of an agent, by its id. */
  readonly folder: (agentId: string) => Promise<Folder>;
  readonly fetch: FetchUrl;
  readonly inspector: Inspector;
  readonly logger: AttachmentLogger;
}

/** How many attachments one message may have. */
const MOST = 10;
/** For everything that one message has fetched, together. */
const FETCH_MS = 20_000;
const LONGEST_NAME = 100;

export function createOutgoing(options: OutgoingOptions): Outgoing {
  return new OutgoingMedia(options);
}

class OutgoingMedia implements Outgoing {
  readonly #options: OutgoingOptions;

  constructor(options: OutgoingOptions) {
    this.#options = options;
  }

  async prepare(request: AttachRequest): Promise<PreparedMedia | undefined> {
    const { wanted, agentId, capabilities, phrases, signal } = request;
    const { sendMedia } = capabilities;
    const limit = deadline(FETCH_MS, signal);
    const parts: MediaPart[] = [];
    const lines: string[] = [];
    for (const [index, source] of wanted.sources.entries()) {
      try {
        if (sendMedia === undefined) throw new NotAttached((why) => why.noAttachments);
        if (index >= MOST) throw new NotAttached((why) => why.tooMany(MOST));
        parts.push(await this.#prepareOne(source, sendMedia, { ...request, signal: limit.signal }));
      } catch (error) {
        if (signal.aborted) break;
        this.#options.logger.warn(
          { agent: agentId, source, err: reasonOf(error) },
          "an attachment cannot be sent",
        );
        // A link leads to it all the same.
        lines.push(
          isUrl(source) ? source : phrases.fileNotSent(nameOf(source), reasonFor(error)(phrases.whyNotSent)),
        );
      }
    }
    limit.end();
    return signal.aborted ? undefined : { parts, lines };
  }

  async open({ ref }: MediaPart): Promise<ReadableStream<Uint8Array>> {
    const id = blobOf(ref);
    const body = id === undefined ? undefined : await this.#options.blobs.open(id).catch(notNow);
    if (body) return body;
    throw new ChannelError("not_found", "the attachment is not kept any more");
  }

  async #fromFolder(
    path: string,
    maxBytes: number,
    { agentId, mayAttach }: AttachRequest,
  ): Promise<Uint8Array> {
    const file = await (await this.#options.folder(agentId)).openFile(path);
    try {
      // Decided about the file that is open, not about a path that may lead elsewhere by now.
      const may = await mayAttach({ file: file.displayPath });
      if (!may.ok) throw new NotAttached((why) => why.forbidden, may.why);
      if (file.size === 0) throw new NotAttached((why) => why.empty);
      if (file.size > maxBytes) throw tooLarge(file.size, maxBytes);
      const bytes = Buffer.alloc(file.size);
      let length = 0;
      while (length < bytes.length) {
        const { bytesRead } = await file.handle.read(bytes, length, bytes.length - length, length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      if (length === 0) throw new NotAttached((why) => why.empty);
      return bytes.subarray(0, length);
    } finally {
      await file.close();
    }
  }

  async #fromWeb(url: string, maxBytes: number, { mayAttach, signal }: AttachRequest): Promise<Uint8Array> {
    const may = await mayAttach({ url });
    if (!may.ok) throw new NotAttached((why) => why.notFetched, may.why);
    const { bytes, contentType } = await this.#options.fetch(url, { maxBytes, signal });
    if (bytes.byteLength === 0) throw new NotAttached((why) => why.empty);
    // What was to be a file and is a page says that one has to log in, or that there is no such file.
    if (/^text\/html\b/i.test(contentType)) throw new NotAttached((why) => why.page);
    return bytes;
  }

  async #prepareOne(
    source: string,
    sendMedia: NonNullable<Capabilities["sendMedia"]>,
    request: AttachRequest,
  ): Promise<MediaPart> {
    const { inspector, blobs } = this.#options;
    const largest = Math.max(...Object.values(sendMedia).map((limit) => limit.maxBytes));
    const bytes = isUrl(source)
      ? await this.#fromWeb(source, largest, request)
      : await this.#fromFolder(source, largest, request);
    const name = nameOf(source);
    const { mimeType } = await mediaTypeOf(bytes, name, inspector);
    const kind = fitting(mimeType, bytes.byteLength, sendMedia);
    const blob = await blobs.put(bytes);
    return {
      type: "media",
      kind,
      name,
      mimeType,
      size: bytes.byteLength,
      ref: { blob },
      ...(request.wanted.voice && kind === "audio" ? { voice: true } : {}),
    };
  }
}

/** The blob that a part refers to. */
export function blobOf(ref: MediaPart["ref"]): string | undefined {
  const id = ref !== null && typeof ref === "object" && "blob" in ref ? ref.blob : undefined;
  return typeof id === "string" && /^[0-9a-f]{64}$/.test(id) ? id : undefined;
}

function notNow(cause: unknown): never {
  throw new ChannelError("transient", `the attachment cannot be opened: ${reasonOf(cause)}`, { cause });
}

type Reason = (why: Phrases["whyNotSent"]) => string;

/** Says in words what could not be attached. */
class NotAttached extends Error {
  /** For people, in their language. */
  readonly reason: Reason;

  /** @param message for the log; default: the reason in English */
  constructor(reason: Reason, message = reason(phrasesIn("en").whyNotSent)) {
    super(message);
    this.reason = reason;
  }
}

function reasonFor(error: unknown): Reason {
  if (error instanceof NotAttached) return error.reason;
  switch (codeOf(error)) {
    case "not_found":
      return (why) => why.noFile;
    case "not_a_file":
    case "not_a_folder":
      return (why) => why.noPlainFile;
    case "outside":
    case "forbidden":
      return (why) => why.outside;
    default:
      return (why) => why.unreadable;
  }
}

function tooLarge(size: number, most: number): NotAttached {
  return new NotAttached((why) => why.tooLarge(megabytes(size), megabytes(most)));
}

function megabytes(bytes: number): string {
  return `${Math.max(0.1, Math.ceil(bytes / 104_857.6) / 10)} MB`;
}

/** The kind a channel takes it as: its own, else a plain file. */
function fitting(
  mimeType: string,
  size: number,
  sendMedia: NonNullable<Capabilities["sendMedia"]>,
): MediaPart["kind"] {
  const kinds = [kindOf(mimeType), "file"] as const;
  const taking = kinds.filter((kind) => {
    const limit = sendMedia[kind];
    return limit !== undefined && (limit.mimeTypes?.includes(mimeType) ?? true);
  });
  const kind = taking.find((one) => size <= (sendMedia[one]?.maxBytes ?? 0));
  if (kind !== undefined) return kind;
  const most = Math.max(...taking.map((one) => sendMedia[one]?.maxBytes ?? 0));
  throw taking.length === 0 ? new NotAttached((why) => why.noSuchKind(mimeType)) : tooLarge(size, most);
}

function isUrl(source: string): boolean {
  return /^https?:\/\//i.test(source);
}

/** The path of a URL as it is meant: `%E6%8A%A5.pdf` is nobody's name for a file. */
function pathOf(url: string): string {
  const path = URL.parse(url)?.pathname ?? "";
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The last part of a path or URL as people may see it. */
export function nameOf(source: string): string {
  const path = isUrl(source) ? pathOf(source) : source;
  const last = path.split(/[\\/]/).findLast((part) => part !== "") ?? "";
  const name = last.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "").trim();
  if (name === "" || /^\.+$/.test(name)) return "file";
  return name.length <= LONGEST_NAME
    ? name
    : `${name.slice(0, 60).toWellFormed()}…${name.slice(-30).toWellFormed()}`;
}
