/** Samples per second in the positions of an Ogg Opus stream, for any input. Source: RFC 7845. */
const SAMPLES_PER_MS = 48;
const MAX_MS = 86_400_000;

/** Returns true for an Ogg stream with Opus, whose first page contains only the header (RFC 7845). */
export function isOpus(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 64));
  return start.toString("latin1", 0, 4) === "OggS" && start.includes("OpusHead");
}

/**
 * Returns the duration of an Ogg Opus stream in milliseconds. The last page contains the number of samples. Returns
 * `undefined` if the duration is implausible.
 */
export function getOpusMs(bytes: Uint8Array): number | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const last = buffer.lastIndexOf("OggS");
  if (last < 0 || last + 14 > buffer.length) return undefined;
  const ms = Math.round(Number(buffer.readBigInt64LE(last + 6)) / SAMPLES_PER_MS);
  return ms > 0 && ms < MAX_MS ? ms : undefined;
}
