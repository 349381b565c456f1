/** Returns a value as from a host that is not written in TypeScript. */
export function untyped<T>(json: string): T {
  return JSON.parse(json);
}
