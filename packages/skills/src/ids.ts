/**
 * Converts a name to an id: lower-case letters and digits of any script, `-`, `_` and `.`.
 *
 * @returns undefined if the name has no such characters
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
