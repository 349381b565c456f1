import { type SentAttachment, UPLOAD_PIECE_BYTES } from "@signalbox/protocol";
import { newId } from "./id.ts";

export interface UploadOptions {
  /** Default: that of a `File`. */
  readonly name?: string;
  readonly signal?: AbortSignal;
  /** Told after each piece which part of the file is there, from 0 to 1. */
  readonly onProgress?: (share: number) => void;
}

/** Sends one piece; gives how much of the file is there then. */
type SendPiece = (path: string, piece: Blob, signal: AbortSignal | undefined) => Promise<number>;

/** Sends a file piece by piece. The id is one that nobody guesses. */
export async function uploadFile(
  file: Blob,
  { name = nameOf(file), signal, onProgress }: UploadOptions,
  send: SendPiece,
): Promise<SentAttachment> {
  const id = newId();
  let there = 0;
  do {
    const piece = file.slice(there, there + UPLOAD_PIECE_BYTES);
    there = await send(`/api/uploads/${id}?at=${there}`, piece, signal);
    onProgress?.(file.size === 0 ? 1 : there / file.size);
  } while (there < file.size);
  const mimeType = file.type === "" ? "application/octet-stream" : file.type;
  return { id, mimeType, bytes: file.size, ...(name === undefined ? {} : { name: name.slice(0, 200) }) };
}

function nameOf(file: Blob): string | undefined {
  return "name" in file && typeof file.name === "string" && file.name !== "" ? file.name : undefined;
}
