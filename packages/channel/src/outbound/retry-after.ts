/**
 * Parses a `Retry-After` header, which contains seconds or an HTTP date (RFC 9110, section 10.2.3).
 *
 * @param now milliseconds since the epoch
 * @returns the delay in milliseconds, or `undefined` if the header is missing, invalid or in the past
 */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? "";
  const seconds = text === "" ? Number.NaN : Number(text);
  const ms = Number.isNaN(seconds) ? Date.parse(text) - now : Math.ceil(seconds * 1_000);
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}
