/**
 * Replaces each `{{path.to.field}}` of a template with that field of a JSON value. Strings are inserted unchanged,
 * other values as JSON, and a missing field or `null` as nothing.
 */
export function fillTemplate(template: string, body: unknown): string {
  return template.replace(/\{\{\s*([^{}]+?)\s*\}\}/g, (_, path: string) => {
    const value = getField(body, path.split("."));
    if (value === undefined || value === null) return "";
    return typeof value === "string" ? value : JSON.stringify(value);
  });
}

function getField(value: unknown, path: readonly string[]): unknown {
  let node: unknown = value;
  for (const step of path) {
    if (node === null || typeof node !== "object" || !Object.hasOwn(node, step)) return undefined;
    node = Object.getOwnPropertyDescriptor(node, step)?.value;
  }
  return node;
}
