/** Formats a block of context: a heading that names its content and trust level, and fenced JSON. */
export function formatJsonBlock(heading: string, value: object): string {
  return `${heading}\n\`\`\`json\n${escapeJson(value)}\n\`\`\``;
}

/**
 * Serializes JSON so that it cannot close the fence around it: backticks, angle brackets and invisible characters are
 * escaped.
 */
export function escapeJson(value: object | string): string {
  return JSON.stringify(value, undefined, 2).replace(
    /[`<>\u007F-\u009F\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
