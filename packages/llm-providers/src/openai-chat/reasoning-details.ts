import type { JsonObject } from "@signalbox/agent-core";
import { textAt } from "../shared/json.ts";

/**
 * Collects streamed `reasoning_details`. A delta with the same type and index as the previous one continues it: texts
 * are concatenated, and other fields are overwritten.
 */
export class ReasoningDetails {
  #entries: JsonObject[] = [];

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** Adds a delta and returns its new text. Some servers (MiniMax) repeat all previous text in each delta. */
  add(piece: JsonObject): string {
    const last = this.#entries.at(-1);
    const isMore = last?.type === piece.type && last?.index === piece.index && piece.data === undefined;
    const field = textAt(piece, "text") === undefined ? "summary" : "text";
    const text = textAt(piece, field) ?? "";
    if (last === undefined || !isMore) {
      this.#entries.push(piece);
      return text;
    }
    const before = textAt(last, field) ?? "";
    const isRepeated = before !== "" && text.length > before.length && text.startsWith(before);
    const added = isRepeated ? text.slice(before.length) : text;
    const others = Object.entries(piece).filter(([, value]) => value !== null);
    this.#entries[this.#entries.length - 1] = {
      ...last,
      ...Object.fromEntries(others),
      ...(before + added !== "" && { [field]: before + added }),
    };
    return added;
  }

  /** Returns the entries in the form that the server expects back, and clears them. */
  take(): JsonObject[] {
    return this.#entries.splice(0);
  }
}
