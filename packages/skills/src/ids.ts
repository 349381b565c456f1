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
