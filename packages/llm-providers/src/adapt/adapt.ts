import {
  type Message,
  type Model,
  PICTURE_LIMITS,
  type RepairChange,
  repairHistory,
} from "@signalbox/agent-core";
import { oncePer, oncePerMessage } from "../shared/once.ts";
import type { Loss, LossKind } from "../shared/warnings.ts";
import { type AdaptOptions, type ConvertOptions, convertMessage } from "./convert.ts";
import { callIdFor } from "./names.ts";

/** A history in the form that one model can take. */
export interface Adapted {
  readonly messages: readonly Message[];
  readonly losses: readonly Loss[];
}

const AS_TEXT = { foreignThinking: "text" } as const;

const conversions = (options: ConvertOptions) =>
  oncePer((target: Model) => oncePerMessage((message: Message) => convertMessage(message, target, options)));

/** Converts histories for a model, and what two of them share only once. */
const conversionsFor = {
  drop: { few: conversions({}), many: conversions({ showsMany: true }) },
  text: { few: conversions(AS_TEXT), many: conversions({ ...AS_TEXT, showsMany: true }) },
};

/**
 * Rewrites a history for `target`. Pure; a message that needs no change is returned as it is.
 *
 * The same model keeps everything but citations that its API takes none back of. Another loses signatures and item ids,
 * thinking (dropped or turned into text) and what only its vendor understood. Call ids and tool names that do not fit
 * the format are replaced, media that the model or its format cannot take is described, a large picture among many too
 * where Anthropic would refuse the request for it, and halves of surrogate pairs become U+FFFD. What `repairHistory`
 * promises holds for the result: every call is followed by its one result, and the first message is a user's.
 */
export function adapt(history: readonly Message[], target: Model, options: AdaptOptions = {}): Adapted {
  const { few, many } = conversionsFor[options.foreignThinking ?? "drop"];
  let converted = few(target)(history);
  const pictures = converted.reduce((sum, one) => sum + one.pictures, 0);
  if (pictures > PICTURE_LIMITS.few) converted = many(target)(history);
  const losses: Loss[] = [];
  for (const [message, { lost }] of converted.entries())
    for (const loss of lost) losses.push({ ...loss, message });
  // A history that stays as it was may be known to need no repair.
  const isSame = converted.every(({ message }, at) => message === history[at]);
  const messages = isSame ? history : converted.flatMap(({ message }) => message ?? []);
  const repaired = repairHistory(messages, (id) => callIdFor(target.api, id));
  /** Where in the history each message stands that is left, where not all are. */
  const places = isSame ? [] : converted.flatMap(({ message }, at) => (message === undefined ? [] : at));
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
