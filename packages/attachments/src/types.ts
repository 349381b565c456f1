import type { FileHandle } from "node:fs/promises";
import type { Channel, ChannelDefinition } from "@signalbox/channel";

/** The folder of an agent. Must not follow links out of it; see `openWorkspace` of `@signalbox/tools`. */
export interface Folder {
  list(
    path: string,
  ): Promise<{ readonly entries: readonly { readonly name: string; readonly type: string }[] }>;
  openFile(path: string): Promise<OpenFile>;
  /**
   * Returns the same folder with hidden paths, which fail as if they did not exist.
   *
   * @param isVisible receives a path in the folder, with links resolved
   */
  restrict(isVisible: (path: string) => boolean): Pick<Folder, "openFile">;
  /** Returns the path that it was written to. */
  writeFile(path: string, bytes: Uint8Array): Promise<string>;
  removeFile(path: string): Promise<void>;
  /** Rejects if the folder is not empty. */
  removeFolder(path: string): Promise<void>;
}

export interface OpenFile {
  /** Path in the folder. */
  readonly displayPath: string;
  /** Size in bytes. */
  readonly size: number;
  readonly handle: FileHandle;
  close(): Promise<void>;
}

/** A running account of a channel. */
export interface AttachmentAccount {
  readonly definition: Pick<ChannelDefinition, "capabilities">;
  readonly running: Pick<Channel, "fetchMedia">;
}

/** Fetches public URLs. Must reject private addresses. */
export type FetchUrl = (
  url: string,
  options: { readonly maxBytes: number; readonly signal: AbortSignal },
) => Promise<{ readonly bytes: Uint8Array; readonly contentType: string }>;

/** Inspects the content of files. */
export interface Inspector {
  /**
   * Shrinks an image that is larger than models accept. Resolves to `undefined` if it is small enough or cannot be
   * shrunk. Default: images are not shrunk.
   */
  fitImage?(
    bytes: Uint8Array,
    size: { readonly width?: number; readonly height?: number },
    signal: AbortSignal,
  ): Promise<{ readonly bytes: Uint8Array } | undefined>;
  /**
   * Returns a label for `TextDecoder`, or `undefined` if the sample is not text.
   *
   * @param isComplete whether the sample is the whole file
   */
  detectEncoding(sample: Uint8Array, isComplete: boolean): string | undefined;
  /** Returns true for types of documents that `readDocument` reads. Default: none. */
  isDocument?(mimeType: string): boolean;
  /** Returns the text of a document, or undefined if it has none or cannot be read. Must limit time and memory. */
  readDocument?(bytes: Uint8Array, mimeType: string): Promise<DocumentText | undefined>;
}

/** The text of a document. */
export interface DocumentText {
  readonly text: string;
  /** True if the document has more text. */
  readonly cut: boolean;
}

/** Transcribes speech. */
export interface Transcriber {
  /** Name for people and models. */
  readonly name: string;
  transcribe(recording: Recording, signal: AbortSignal): Promise<string>;
}

export interface Recording {
  readonly bytes: Uint8Array;
  readonly mimeType: string;
  /** File extension of the format, without a dot. */
  readonly extension: string;
}

type Line = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** A logger with pino's interface. */
export interface AttachmentLogger {
  readonly debug: Line;
  readonly warn: Line;
}

/** Returns the `code` of an error, if it has one. */
export function getErrorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
