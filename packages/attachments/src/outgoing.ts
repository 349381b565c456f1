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
import { detectAudio, detectMediaType, getMediaKind } from "./media-type.ts";
import { type AttachmentLogger, type FetchUrl, type Folder, getErrorCode, type Inspector } from "./types.ts";

/** Requested attachments. */
export interface RequestedMedia {
  /** Paths in the workspace, or URLs. */
  readonly sources: readonly string[];
  /** True if audio is sent as a voice message. */
  readonly voice: boolean;
}

/** Decides whether a run may send a file or page to people. `why` is for the log and the model. */
export type MayAttach = (
  what: { readonly file: string } | { readonly url: string },
) => Promise<{ readonly ok: true } | { readonly ok: false; readonly why: string }>;

/** Attachments that are ready to be sent, and messages about the others. */
interface PreparedMedia {
  readonly parts: readonly MediaPart[];
  /** One line for people about each attachment that cannot be sent. */
  readonly lines: readonly string[];
}

type FilePhrases = Pick<Phrases, "fileNotSent" | "whyNotSent">;

interface AttachRequest {
  readonly wanted: RequestedMedia;
  readonly agentId: string;
  readonly capabilities: Pick<Capabilities, "sendMedia">;
  readonly mayAttach: MayAttach;
  /** Returns true for paths that the person who asked may know. Other paths fail as if they did not exist. */
  readonly isVisible: (path: string) => boolean;
  readonly phrases: FilePhrases;
  readonly signal: AbortSignal;
}

/** Prepares files and pages for sending. */
export interface Outgoing {
  /**
   * Copies the requested files and pages into blobs, so that every attempt sends the same bytes. Never rejects.
   *
   * @returns `undefined` if `signal` was aborted before all of them were copied
   */
  prepare(request: AttachRequest): Promise<PreparedMedia | undefined>;
  /**
   * Stores a spoken answer as a blob, so that every attempt sends the same bytes.
   *
   * @throws Error if the bytes are not audio, or if the channel cannot send them
   */
  prepareSpeech(bytes: Uint8Array, sendMedia: NonNullable<Capabilities["sendMedia"]>): Promise<MediaPart>;
  /** Opens the bytes of a part, for a channel that sends it. */
  readonly open: NonNullable<SendOptions["openMedia"]>;
}

export interface OutgoingOptions {
  readonly blobs: Blobs;
  /** Returns the folder of an agent. */
  readonly folder: (agentId: string) => Promise<Folder>;
  readonly fetch: FetchUrl;
  readonly inspector: Inspector;
  readonly logger: AttachmentLogger;
}

const MAX_ATTACHMENTS = 10;
/** Time limit for all attachments of one message. */
const FETCH_TIMEOUT_MS = 20_000;
const MAX_NAME_CHARS = 100;

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
    const limit = deadline(FETCH_TIMEOUT_MS, signal);
    const parts: MediaPart[] = [];
    const lines: string[] = [];
    for (const [index, source] of wanted.sources.entries()) {
      try {
        if (sendMedia === undefined) throw new NotAttached((why) => why.noAttachments);
        if (index >= MAX_ATTACHMENTS) throw new NotAttached((why) => why.tooMany(MAX_ATTACHMENTS));
        parts.push(await this.#prepareOne(source, sendMedia, { ...request, signal: limit.signal }));
      } catch (error) {
        if (signal.aborted) break;
        this.#options.logger.warn(
          { agent: agentId, source, err: reasonOf(error) },
          "an attachment cannot be sent",
        );
        // People can still open a link themselves.
        lines.push(
          isUrl(source)
            ? source
            : phrases.fileNotSent(getDisplayName(source), reasonFor(error)(phrases.whyNotSent)),
        );
      }
    }
    limit.end();
    return signal.aborted ? undefined : { parts, lines };
  }

  async prepareSpeech(
    bytes: Uint8Array,
    sendMedia: NonNullable<Capabilities["sendMedia"]>,
  ): Promise<MediaPart> {
    const { blobs } = this.#options;
    const type = await detectAudio(bytes);
    if (type === undefined) throw new Error("the service returned something else than audio");
    const { mimeType, extension } = type;
    const kind = chooseKind(mimeType, bytes.byteLength, sendMedia);
    const blob = await blobs.put(bytes);
    return {
      type: "media",
      kind,
      // Platforms recognize Opus by the extension of its container.
      name: `voice.${extension === "opus" ? "ogg" : extension}`,
      mimeType,
      size: bytes.byteLength,
      ref: { blob },
      voice: kind === "audio" ? true : undefined,
    };
  }

  async open({ ref }: MediaPart): Promise<ReadableStream<Uint8Array>> {
    const id = getBlobId(ref);
    const body = id === undefined ? undefined : await this.#options.blobs.open(id).catch(throwRetryable);
    if (body) return body;
    throw new ChannelError("not_found", "The attachment no longer exists.");
  }

  async #fromFolder(
    path: string,
    maxBytes: number,
    { agentId, mayAttach, isVisible }: AttachRequest,
  ): Promise<Uint8Array> {
    const folder = await this.#options.folder(agentId);
    const file = await folder.restrict(isVisible).openFile(path);
    try {
      // The decision must concern the open file, because the path may lead elsewhere in the meantime.
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
    // An HTML page instead of a file is a login form or an error message.
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
    const name = getDisplayName(source);
    const { mimeType } = await detectMediaType(bytes, name, inspector);
    const kind = chooseKind(mimeType, bytes.byteLength, sendMedia);
    const blob = await blobs.put(bytes);
    return {
      type: "media",
      kind,
      name,
      mimeType,
      size: bytes.byteLength,
      ref: { blob },
      voice: request.wanted.voice && kind === "audio" ? true : undefined,
    };
  }
}

/** Returns the id of the blob that a part refers to. */
export function getBlobId(ref: MediaPart["ref"]): string | undefined {
  const id = ref !== null && typeof ref === "object" && "blob" in ref ? ref.blob : undefined;
  return typeof id === "string" && /^[0-9a-f]{64}$/.test(id) ? id : undefined;
}

function throwRetryable(cause: unknown): never {
  throw new ChannelError("transient", `The attachment cannot be opened at the moment: ${reasonOf(cause)}`, {
    cause,
  });
}

type Reason = (why: Phrases["whyNotSent"]) => string;

/** The reason why an attachment is not sent. */
class NotAttached extends Error {
  /** Returns the reason for people, in their language. */
  readonly reason: Reason;

  /** @param message for the log; default: the reason in English */
  constructor(reason: Reason, message = reason(phrasesIn("en").whyNotSent)) {
    super(message);
    this.reason = reason;
  }
}

function reasonFor(error: unknown): Reason {
  if (error instanceof NotAttached) return error.reason;
  switch (getErrorCode(error)) {
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

function tooLarge(size: number, limit: number): NotAttached {
  return new NotAttached((why) => why.tooLarge(megabytes(size), megabytes(limit)));
}

function megabytes(bytes: number): string {
  return `${Math.max(0.1, Math.ceil(bytes / 104_857.6) / 10)} MB`;
}

/** Returns the kind as which the channel accepts a file: its own kind, or a plain file. */
function chooseKind(
  mimeType: string,
  size: number,
  sendMedia: NonNullable<Capabilities["sendMedia"]>,
): MediaPart["kind"] {
  const kinds = [getMediaKind(mimeType), "file"] as const;
  const accepted = kinds.filter((kind) => {
    const limit = sendMedia[kind];
    return limit !== undefined && (limit.mimeTypes?.includes(mimeType) ?? true);
  });
  const kind = accepted.find((one) => size <= (sendMedia[one]?.maxBytes ?? 0));
  if (kind !== undefined) return kind;
  const largest = Math.max(...accepted.map((one) => sendMedia[one]?.maxBytes ?? 0));
  throw accepted.length === 0 ? new NotAttached((why) => why.noSuchKind(mimeType)) : tooLarge(size, largest);
}

function isUrl(source: string): boolean {
  return /^https?:\/\//i.test(source);
}

/** Returns the decoded path of a URL, so that names such as `报.pdf` are readable. */
function pathOf(url: string): string {
  const path = URL.parse(url)?.pathname ?? "";
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Returns the last part of a path or URL, cleaned for display. */
export function getDisplayName(source: string): string {
  const path = isUrl(source) ? pathOf(source) : source;
  const last = path.split(/[\\/]/).findLast((part) => part !== "") ?? "";
  const name = last.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "").trim();
  if (name === "" || /^\.+$/.test(name)) return "file";
  return name.length <= MAX_NAME_CHARS
    ? name
    : `${name.slice(0, 60).toWellFormed()}…${name.slice(-30).toWellFormed()}`;
}
