/**
 * Makes something of texts that are mostly the same from prompt to prompt, such as files, guides and descriptions of
 * tools, and keeps it for so many of them. The one that was wanted longest ago goes first.
 */
export function remembered<T>(most: number, make: (text: string) => T): (text: string) => T {
  const kept = new Map<string, T>();
  return (text) => {
    const made = kept.get(text) ?? make(text);
    kept.delete(text);
    kept.set(text, made);
    const [oldest] = kept.keys();
    if (kept.size > most && oldest !== undefined) kept.delete(oldest);
    return made;
  };
}
