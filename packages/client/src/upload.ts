import { type SentAttachment, UPLOAD_PIECE_BYTES } from "@signalbox/protocol";
import { defaultBackoff, pause } from "./backoff.ts";
import { isClientError } from "./errors.ts";
import { newId } from "./id.ts";

export interface UploadOptions {
  /** Default: that of a `File`. */
  readonly name?: string;
  readonly signal?: AbortSignal;
  /** Called after each piece with the share of the file that is there, from 0 to 1. */
  readonly onProgress?: (share: number) => void;
  /** How often in a row a piece is sent again whose answer did not come. Default: 5. */
  readonly retries?: number;
  /** Milliseconds before that, `attempt` counts from 1. Default: 500 doubling to 15,000, up to half off. */
  readonly backoffMs?: (attempt: number) => number;
}

/** Sends one piece; gives how much of the file is there then. */
type SendPiece = (path: string, piece: Blob, signal: AbortSignal | undefined) => Promise<number>;

/** Sends a file piece by piece. The id is one that nobody guesses. */
export async function uploadFile(
  file: Blob,
  { name = nameOf(file), onProgress, ...trying }: UploadOptions,
  send: SendPiece,
): Promise<SentAttachment> {
  const id = newId();
  let there = 0;
  do {
    const at = there;
    const piece = file.slice(at, at + UPLOAD_PIECE_BYTES);
    // Where a piece had arrived whose answer was lost, the gateway says how much is there.
    there = await insist(() => send(`/api/uploads/${id}?at=${at}`, piece, trying.signal), trying);
    onProgress?.(file.size === 0 ? 1 : there / file.size);
  } while (there < file.size);
  const mimeType = file.type === "" ? "application/octet-stream" : file.type;
  return { id, mimeType, bytes: file.size, ...(name === undefined ? {} : { name: name.slice(0, 200) }) };
}

/** Sends again where no answer came. */
async function insist(
  send: () => Promise<number>,
  {
    signal,
    retries = 5,
    backoffMs = defaultBackoff,
  }: Pick<UploadOptions, "signal" | "retries" | "backoffMs">,
): Promise<number> {
  for (let failures = 1; ; failures++) {
    try {
      return await send();
    } catch (error) {
      if (failures > retries || signal?.aborted === true || !isLost(error)) throw error;
      await pause(backoffMs(failures), signal);
    }
  }
}

/** Nothing is known of what the gateway made of it. */
function isLost(error: unknown): boolean {
  return isClientError(error) && (error.code === "network" || error.code === "timeout");
}

function nameOf(file: Blob): string | undefined {
  return "name" in file && typeof file.name === "string" && file.name !== "" ? file.name : undefined;
}
