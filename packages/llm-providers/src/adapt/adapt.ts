import {
  IMAGE_LIMITS,
  type Message,
  type Model,
  type RepairChange,
  repairHistory,
} from "@signalbox/agent-core";
import type { Loss, LossKind } from "../shared/warnings.ts";
import { type AdaptOptions, convertMessage } from "./convert.ts";
import { callIdFor } from "./names.ts";

/** A history that a model accepts, and the content that was lost in the conversion. */
export interface Adapted {
  readonly messages: readonly Message[];
  readonly losses: readonly Loss[];
}

/**
 * Converts a history into one that `target` accepts. Pure; a message that needs no change is returned as is.
 *
 * The same model keeps everything except citations that its API does not accept back. Another model loses signatures,
 * item ids, thinking (dropped or converted to text) and vendor-specific content. Call ids and tool names that do not
 * fit the format are replaced. Media that the model or its format does not accept becomes a description. So does a
 * large image among many if it would make Anthropic reject the request. Lone surrogates become U+FFFD. The result has
 * the guarantees of `repairHistory`: each call is followed by exactly one result, and the first message is from the
 * user.
 */
export function adapt(history: readonly Message[], target: Model, options: AdaptOptions = {}): Adapted {
  const convertAll = (showsMany: boolean) =>
    history.map((message) => convertMessage(message, target, { ...options, showsMany }));
  let converted = convertAll(false);
  const pictures = converted.reduce((sum, one) => sum + one.pictures, 0);
  if (pictures > IMAGE_LIMITS.few) converted = convertAll(true);
  const losses: Loss[] = [];
  for (const [message, { lost }] of converted.entries())
    for (const loss of lost) losses.push({ ...loss, message });
  // `repairHistory` recognizes a list that it has already checked.
  const isUnchanged = converted.every(({ message }, at) => message === history[at]);
  const messages = isUnchanged ? history : converted.flatMap(({ message }) => message ?? []);
  const repaired = repairHistory(messages, (id) => callIdFor(target.api, id));
  /** The index in `history` of each remaining message. */
  const places = converted.flatMap(({ message }, at) => (message === undefined ? [] : at));
  for (const { kind: change, index, callId } of repaired.changes) {
    const kind = REPAIR_LOSSES[change];
    if (kind !== undefined) losses.push({ kind, message: places[index] ?? index, detail: callId ?? change });
  }
  return { messages: repaired.messages, losses };
}

/** Repairs that lose content. Other repairs only reorder or add messages. */
const REPAIR_LOSSES: Partial<Record<RepairChange["kind"], LossKind>> = {
  answered_call: "orphan_call",
  dropped_call: "partial",
  orphan_result: "orphan_result",
  duplicate_result: "orphan_result",
  call_id: "call_id",
  empty_turn: "empty",
};
