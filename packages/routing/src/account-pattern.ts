/** Returns true if a pattern matches every account. */
export function matchesEveryAccount(pattern: string | undefined): boolean {
  return pattern === undefined || /^\*+$/.test(pattern);
}

/** Returns true if a pattern matches the whole name of an account. `*` matches any string, including the empty one. */
export function matchesAccount(pattern: string | undefined, account: string): boolean {
  if (pattern === undefined) return true;
  if (!pattern.includes("*")) return pattern === account;
  // This is not a regular expression, because matching many stars could take exponential time.
  const parts = pattern.split("*");
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
  if (account.length < first.length + last.length) return false;
  if (!account.startsWith(first) || !account.endsWith(last)) return false;
  const end = account.length - last.length;
  let position = first.length;
  for (const part of parts.slice(1, -1)) {
    const index = account.indexOf(part, position);
    if (index < 0 || index + part.length > end) return false;
    position = index + part.length;
  }
  return true;
}
