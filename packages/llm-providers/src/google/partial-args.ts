import type { JsonObject } from "@signalbox/agent-core";
import { objectsAt, textAt } from "../shared/json.ts";

type Key = string | number;

const STEP = /\.([^.[\]]+)|\[(\d+)\]|\['([^']*)'\]|\["([^"]*)"\]/g;
const PATH = new RegExp(`^\\$(?:${STEP.source})*$`);

/** Parses a path such as `$.a.b[0]`. */
function keysOf(path: string): Key[] | undefined {
  if (!PATH.test(path)) return undefined;
  return [...path.matchAll(STEP)].map(([, name, at, single, double]) =>
    at === undefined ? (name ?? single ?? double ?? "") : Number(at),
  );
}

/** Assembles the arguments of a call that Gemini streams as assignments to paths, with strings split into chunks. */
export class PartialArgs {
  // Without a prototype, `__proto__` is an ordinary key.
  readonly #root: object = Object.create(null);
  #broken = false;
  #continued: string | undefined;

  add(call: JsonObject): void {
    for (const piece of objectsAt(call, "partialArgs")) {
      const path = textAt(piece, "jsonPath") ?? "";
      const keys = keysOf(path);
      const value = piece.stringValue ?? piece.numberValue ?? piece.boolValue ?? null;
      if (keys === undefined || !this.#assign(keys, value, this.#continued === path)) this.#broken = true;
      this.#continued = piece.willContinue === true ? path : undefined;
    }
  }

  /** Returns the arguments as JSON text. The text is left unclosed if they are incomplete or invalid. */
  text(complete: boolean): string {
    const text = JSON.stringify(this.#root);
    return complete && !this.#broken ? text : text.slice(0, -1);
  }

  #assign(path: readonly Key[], value: unknown, append: boolean): boolean {
    let node = this.#root;
    for (const [i, key] of path.slice(0, -1).entries()) {
      const next: unknown =
        Reflect.get(node, key) ?? (typeof path[i + 1] === "number" ? [] : Object.create(null));
      if (typeof next !== "object" || next === null || !write(node, key, next)) return false;
      node = next;
    }
    const last = path.at(-1);
    const before: unknown = last === undefined ? undefined : Reflect.get(node, last);
    const joins = append && typeof before === "string" && typeof value === "string";
    return last !== undefined && write(node, last, joins ? before + value : value);
  }
}

/** An array grows only one element at a time, so that a path cannot allocate a billion elements. */
function write(node: object, key: Key, value: unknown): boolean {
  const fits = !Array.isArray(node) || (typeof key === "number" && key <= node.length);
  return fits && Reflect.set(node, key, value);
}
