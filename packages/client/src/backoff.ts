/** Milliseconds before a try: 500 doubling to 15,000, up to half off. */
export function defaultBackoff(attempt: number): number {
  return Math.min(15_000, 500 * 2 ** (attempt - 1)) * (1 - Math.random() / 2);
}
