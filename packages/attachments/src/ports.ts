import type { FileHandle } from "node:fs/promises";
import type { Channel, ChannelDefinition } from "@signalbox/channel";

/** The folder of an agent, opened without following links out of it. That of `@signalbox/tools` is one. */
export interface Folder {
  list(
    path: string,
  ): Promise<{ readonly entries: readonly { readonly name: string; readonly type: string }[] }>;
  openFile(path: string): Promise<OpenFile>;
  /** Gives the path it was written to. */
  writeFile(path: string, bytes: Uint8Array): Promise<string>;
  removeFile(path: string): Promise<void>;
  /** Rejects where something is in it. */
  removeFolder(path: string): Promise<void>;
}

export interface OpenFile {
  /** Its path in the folder. */
  readonly displayPath: string;
  /** In bytes. */
  readonly size: number;
  readonly handle: FileHandle;
  close(): Promise<void>;
}

/** One account of a channel that runs. */
export interface AttachmentAccount {
  readonly definition: Pick<ChannelDefinition, "capabilities">;
  readonly running: Pick<Channel, "fetchMedia">;
}

/** Fetches what models and people name, and nothing that is private. */
export type FetchUrl = (
  url: string,
  options: { readonly maxBytes: number; readonly signal: AbortSignal },
) => Promise<{ readonly bytes: Uint8Array; readonly contentType: string }>;

/** Looks into files. That of `@signalbox/tools` serves. */
export interface Inspector {
  /**
   * Makes a picture that is larger than models take smaller; undefined for one that is not, or cannot be. Default: none
   * is.
   */
  fitPicture?(
    bytes: Uint8Array,
    size: { readonly width?: number; readonly height?: number },
    signal: AbortSignal,
  ): Promise<{ readonly bytes: Uint8Array } | undefined>;
  /** A label of `TextDecoder`; undefined for what is no text. `isWhole`: the sample is all there is. */
  detectEncoding(sample: Uint8Array, isWhole: boolean): string | undefined;
}

/** Writes down what is said in a recording. */
export interface Transcriber {
  /** As people know it. */
  readonly name: string;
  /** Rejects where it cannot. */
  transcribe(recording: Recording, signal: AbortSignal): Promise<string>;
}

export interface Recording {
  readonly bytes: Uint8Array;
  readonly mimeType: string;
  /** Of its format, without a dot. */
  readonly extension: string;
}

type Line = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** The log as pino has it. */
export interface AttachmentLogger {
  readonly debug: Line;
  readonly warn: Line;
}

/** The code of an error that carries one. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
