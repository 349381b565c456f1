import { type SentAttachment, UPLOAD_PIECE_BYTES } from "@signalbox/protocol";
import { defaultBackoff, pause } from "./backoff.ts";
import { isClientError } from "./errors.ts";
import { newId } from "./id.ts";

export interface UploadOptions {
  /** File name. Default: the name of the `File`. */
  readonly name?: string;
  readonly signal?: AbortSignal;
  /** Called after each piece with the uploaded fraction of the file, from 0 to 1. */
  readonly onProgress?: (share: number) => void;
  /** Maximum number of consecutive retries of a piece that got no response. Default: 5. */
  readonly retries?: number;
  /**
   * Returns the delay before a retry in milliseconds. `attempt` counts from 1. Default: 500 doubling to 15,000, minus
   * up to 50 % jitter.
   */
  readonly backoffMs?: (attempt: number) => number;
}

/** Sends one piece. Resolves with the number of bytes that the gateway has received. */
type SendPiece = (path: string, piece: Blob, signal: AbortSignal | undefined) => Promise<number>;

/** Uploads a file in pieces under a new id. */
export async function uploadFile(
  file: Blob,
  { name = getName(file), onProgress, ...retry }: UploadOptions,
  send: SendPiece,
): Promise<SentAttachment> {
  const id = newId();
  let received = 0;
  do {
    const at = received;
    const piece = file.slice(at, at + UPLOAD_PIECE_BYTES);
    // If the response to an earlier attempt was lost, `received` shows that the piece had arrived.
    received = await withRetries(() => send(`/api/uploads/${id}?at=${at}`, piece, retry.signal), retry);
    onProgress?.(file.size === 0 ? 1 : received / file.size);
  } while (received < file.size);
  const mimeType = file.type === "" ? "application/octet-stream" : file.type;
  return { id, mimeType, bytes: file.size, name: name?.slice(0, 200) };
}

async function withRetries(
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
      if (failures > retries || signal?.aborted === true || !isRetryable(error)) throw error;
      await pause(backoffMs(failures), signal);
    }
  }
}

/** Returns true if the request got no response, so that it may or may not have arrived. */
function isRetryable(error: unknown): boolean {
  return isClientError(error) && (error.code === "network" || error.code === "timeout");
}

function getName(file: Blob): string | undefined {
  return "name" in file && typeof file.name === "string" && file.name !== "" ? file.name : undefined;
}
