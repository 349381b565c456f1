import type { Capabilities, MediaPart, Outbound } from "@signalbox/channel";
import { unsaid } from "./blocks/unsaid.ts";
import { withDraft } from "./finish-draft.ts";
import type { EndedDraft } from "./growing-draft.ts";
import type { DeliveryMessage } from "./outbox.ts";
import { answerTo } from "./rows.ts";

/** What people have seen of an answer while it was written. */
export interface SeenOfAnswer {
  readonly draft: EndedDraft | undefined;
  /** The parts of it that were sent already. */
  readonly blocks: readonly string[];
}

export interface FinalReply {
  readonly text: string;
  readonly silent: boolean;
  readonly attached?: readonly MediaPart[] | undefined;
  /** The mark on an answer that was stopped; the text that people have read stays. */
  readonly stopped: string | undefined;
  readonly seen: SeenOfAnswer;
  /** The message it answers, or nothing if it is not to be sent; its draft is then taken back. */
  readonly replyTo: string | undefined;
  readonly capabilities: Capabilities | undefined;
}

/** What is still to be sent of an answer that is over; undefined where nothing is. */
export function finalReply(reply: FinalReply): DeliveryMessage | undefined {
  const { seen, replyTo } = reply;
  return withDraft(replyTo === undefined ? undefined : rest(reply, replyTo), seen.draft?.reference);
}

/** Without the blocks that were sent already: the first of them quotes the message. */
function rest(
  { text, silent, attached, stopped, seen, capabilities }: FinalReply,
  replyTo: string,
): Outbound | undefined {
  const { blocks } = seen;
  const broken = stopped === undefined ? undefined : brokenAnswer(seen, stopped);
  if (silent && broken === undefined) return undefined;
  const { text: left } = unsaid(broken ?? text, blocks);
  if (left === "" && attached === undefined && blocks.length > 0) return undefined;
  return answerTo(left, blocks.length > 0 ? "" : replyTo, capabilities, attached);
}

function brokenAnswer({ draft, blocks }: SeenOfAnswer, mark: string): string | undefined {
  if (draft?.text) return `${draft.text}\n\n${mark}`;
  return blocks.length > 0 ? mark : undefined;
}
