/**
 * How long a platform asks to wait in the `Retry-After` of an answer, seconds or an HTTP date (RFC 9110, section
 * 10.2.3), in milliseconds. Undefined where it names no time that is still to come.
 *
 * @param now milliseconds since the epoch
 */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? "";
  const seconds = text === "" ? Number.NaN : Number(text);
  const ms = Number.isNaN(seconds) ? Date.parse(text) - now : Math.ceil(seconds * 1_000);
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}
