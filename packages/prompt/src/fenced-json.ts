/** A block of context: a line that says what it is and whose words it holds, and JSON in a fence. */
export function jsonBlock(heading: string, value: object): string {
  return `${heading}\n\`\`\`json\n${escapedJson(value)}\n\`\`\``;
}

/** JSON that cannot close a fence around it: backticks, angle brackets and odd characters are JSON escapes. */
export function escapedJson(value: object | string): string {
  return JSON.stringify(value, undefined, 2).replace(
    /[`<>\u007F-\u009F\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
