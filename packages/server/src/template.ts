/**
 * Puts the fields of a JSON value in the place of `{{path.to.it}}`: texts as they are, anything else as JSON, nothing
 * for what is not there.
 */
export function fillIn(template: string, body: unknown): string {
  return template.replace(/\{\{\s*([^{}]+?)\s*\}\}/g, (_, path: string) => {
    const value = valueAt(body, path.split("."));
    if (value === undefined || value === null) return "";
    return typeof value === "string" ? value : JSON.stringify(value);
  });
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let node: unknown = value;
  for (const step of path) {
    if (node === null || typeof node !== "object" || !Object.hasOwn(node, step)) return undefined;
    node = Object.getOwnPropertyDescriptor(node, step)?.value;
  }
  return node;
}
