import type { ConversationHistory } from "@signalbox/client";
import { endItem, type Item, itemOf, keep, same } from "./item.ts";

/**
 * Merges the history with the items that only the page has: streaming text, refused messages and errors. Each keeps its
 * position after the message that it followed. The end of a run comes after all its items.
 */
export function merge({ messages, ends }: ConversationHistory, known: Item[]): Item[] {
  const rest = new Map<number, Item[]>();
  const kept = new Map<number, Item>();
  let place = messages.length - 1;
  for (const item of known) {
    const at = messages.findIndex((message) => same(item, message));
    if (at >= 0) {
      place = at;
      kept.set(at, item);
    } else {
      const ofRun =
        item.kind === "end" ? messages.findLastIndex((message) => message.runId === item.runId) : -1;
      const behind = Math.max(place, ofRun);
      rest.set(behind, [...(rest.get(behind) ?? []), item]);
    }
  }
  const shown = new Set(known.flatMap((item) => (item.kind === "end" ? [item.runId] : [])));
  for (const end of ends) {
    const behind = messages.findLastIndex((message) => message.runId === end.runId);
    if (behind < 0 || shown.has(end.runId)) continue;
    rest.set(behind, [endItem(end), ...(rest.get(behind) ?? [])]);
  }
  const merged = messages.flatMap((message, at) => {
    const item = itemOf(message);
    const old = kept.get(at);
    return [...(item === undefined ? [] : [keep(old, item)]), ...(rest.get(at) ?? [])];
  });
  return [...merged, ...(rest.get(-1) ?? [])];
}
