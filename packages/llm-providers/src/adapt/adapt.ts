import { type Message, type Model, type RepairChange, repairHistory } from "@signalbox/agent-core";
import type { LossKind } from "../shared/warnings.ts";
import { type AdaptOptions, type Converted, convertMessage } from "./convert.ts";
import { callIdFor } from "./ids.ts";
import type { Loss } from "./losses.ts";

/** A history as one model can take it. */
export interface Adapted {
  readonly messages: readonly Message[];
  readonly losses: readonly Loss[];
}

interface Memo {
  readonly key: string;
  readonly converted: Converted;
}

// A message is immutable, so what it becomes for a model is found again; a growing history costs its growth.
const memos = new WeakMap<Message, Memo>();
const keys = new WeakMap<Model, string>();

function keyOf(target: Model, options: AdaptOptions): string {
  let key = keys.get(target);
  if (key === undefined) {
    key = JSON.stringify([target.api, target.provider, target.id, target.input]);
    keys.set(target, key);
  }
  return options.foreignThinking === "text" ? `${key}text` : key;
}

/**
 * Rewrites a history for `target`. Pure; a message that needs no change is returned as it is.
 *
 * The same model keeps everything but citations that its API takes none back of. Another loses signatures and item ids,
 * thinking (dropped or turned into text) and what only its vendor understood. Call ids and tool names that do not fit
 * the format are replaced, media that the model or its format cannot take is described, halves of surrogate pairs
 * become U+FFFD. What `repairHistory` promises holds for the result: every call is followed by its one result, and the
 * first message is a user's.
 */
export function adapt(history: readonly Message[], target: Model, options: AdaptOptions = {}): Adapted {
  const key = keyOf(target, options);
  const losses: Loss[] = [];
  // Most histories are taken as they are: a copy is begun at the first message that is not.
  let messages: Message[] | undefined;
  let places: number[] = [];
  for (let from = 0; from < history.length; from++) {
    const message = history[from];
    if (message === undefined) continue;
    let memo = memos.get(message);
    if (memo?.key !== key) {
      memo = { key, converted: convertMessage(message, target, options) };
      memos.set(message, memo);
    }
    const { message: made, losses: lost } = memo.converted;
    if (lost.length > 0) losses.push(...lost.map((loss) => ({ ...loss, message: from })));
    if (messages === undefined) {
      if (made === message) continue;
      messages = history.slice(0, from);
      places = messages.map((_, index) => index);
    }
    if (made === undefined) continue;
    messages.push(made);
    places.push(from);
  }
  const repaired = repairHistory(messages ?? history, { fitCallId: (id) => callIdFor(target.api, id) });
  for (const { kind: change, index, callId } of repaired.changes) {
    const kind = REPAIR_LOSSES[change];
    if (kind !== undefined) losses.push({ kind, message: places[index] ?? index, detail: callId ?? change });
  }
  return { messages: repaired.messages, losses };
}

/** What a repair took from a history. What it only put in order, or added, is no loss. */
const REPAIR_LOSSES: Partial<Record<RepairChange["kind"], LossKind>> = {
  "answered-call": "orphan-call",
  "dropped-call": "partial",
  "orphan-result": "orphan-result",
  "duplicate-result": "orphan-result",
  "call-id": "call-id",
  "empty-turn": "empty",
};
