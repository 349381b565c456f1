import type { Capabilities, MediaPart, Outbound } from "@signalbox/channel";
import { getRemainingText } from "./blocks/remaining-text.ts";
import type { EndedDraft } from "./drafts/drafted-answer.ts";
import { withDraft } from "./drafts/finish-draft.ts";
import type { DeliveryMessage } from "./outbox.ts";
import { createAnswer } from "./rows.ts";

/** The part of an answer that people have seen while it was being written. */
export interface ShownAnswer {
  readonly draft: EndedDraft | undefined;
  /** Blocks that were sent. */
  readonly blocks: readonly string[];
}

export interface FinalReply {
  readonly text: string;
  readonly silent: boolean;
  readonly attached?: readonly MediaPart[];
  /** The text that marks a stopped answer. The text that people have already read remains. */
  readonly stopped: string | undefined;
  readonly shown: ShownAnswer;
  /** The id of the answered message. If it is absent nothing is sent, and the draft is removed. */
  readonly replyTo: string | undefined;
  readonly capabilities: Capabilities | undefined;
}

/** Creates the message that completes a finished answer. Returns `undefined` if there is nothing left to send. */
export function createFinalReply(reply: FinalReply): DeliveryMessage | undefined {
  const { shown, replyTo } = reply;
  return withDraft(
    replyTo === undefined ? undefined : getRemainingReply(reply, replyTo),
    shown.draft?.reference,
  );
}

function getRemainingReply(
  { text, silent, attached, stopped, shown, capabilities }: FinalReply,
  replyTo: string,
): Outbound | undefined {
  const blocks = [...(shown.draft?.segments ?? []), ...shown.blocks];
  const stoppedText = stopped === undefined ? undefined : getStoppedText(shown.draft?.text, blocks, stopped);
  if (silent && stoppedText === undefined) return undefined;
  const remaining = stoppedText ?? getRemainingText(text, blocks).text;
  if (remaining === "" && attached === undefined && blocks.length > 0) return undefined;
  // Only the first block quotes the answered message. A draft always quotes it.
  return createAnswer(remaining, shown.blocks.length > 0 ? "" : replyTo, capabilities, attached);
}

/** @param draftText the text that the draft shows below the blocks */
function getStoppedText(
  draftText: string | undefined,
  blocks: readonly string[],
  mark: string,
): string | undefined {
  if (draftText) return `${draftText}\n\n${mark}`;
  return blocks.length > 0 ? mark : undefined;
}
