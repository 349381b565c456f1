import { createHash } from "node:crypto";

/**
 * A name as an id: letters and digits of any script in lower case, `-`, `_` and `.`; never empty, `.` or `..`.
 * Undefined where nothing of the name can stay.
 */
export function toSkillId(name: string): string | undefined {
  const id = [
    ...name
      .normalize("NFKC")
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}._-]+/gu, "-"),
  ]
    .slice(0, 64)
    .join("")
    .replace(/^[-._]+|[-._]+$/g, "");
  return id === "" ? undefined : id;
}

/** The longest name that Discord takes. */
const MAX_COMMAND = 32;

/** Turns ids into command names of `a-z`, `0-9` and `_`, each given out once. */
export function commandNamer(reserved: Iterable<string>): (id: string) => string {
  const taken = new Set([...reserved].map((name) => name.toLowerCase()));
  return (id) => {
    const plain = id
      .toLowerCase()
      .replace(/[^a-z0-9_]+/g, "_")
      .replace(/_+/g, "_")
      .slice(0, MAX_COMMAND)
      .replace(/^_+|_+$/g, "");
    // A name in another script leaves nothing; a digest stays the same whatever other skills there are.
    const base = plain === "" ? `skill_${sha256(id).slice(0, 6)}` : plain;
    let name = base;
    for (let number = 2; taken.has(name); number++) {
      const suffix = `_${number}`;
      name = base.slice(0, MAX_COMMAND - suffix.length) + suffix;
    }
    taken.add(name);
    return name;
  };
}

/** White space and control characters as single spaces, cut to a length in UTF-16 units. */
export function oneLine(text: string, maxLength: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not stay
  const line = text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
  if (line.length <= maxLength) return line;
  const cut = line.slice(0, maxLength - 1);
  // Half a surrogate pair must not stay at the end.
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}
