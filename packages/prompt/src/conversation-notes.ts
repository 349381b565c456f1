import type { AgentMessage, InputBlock, UserMessage } from "@signalbox/agent-core";
import type { InlineImage, MediaRef, TurnRequest } from "@signalbox/channel";
import { formatBody } from "./envelope.ts";

/** A message as it is named among others. */
export interface BriefMessage {
  readonly messageId: string;
  readonly senderName: string;
  readonly text: string;
}

const SHORTENED_CHARS = 200;
const TAKEN_BACK = "(deleted) ";

/** What stands for messages that came while the agent was busy, where they were too many to be told whole. */
export function summaryNote(messages: readonly BriefMessage[]): string {
  const head = `${messages.length} earlier messages arrived while you were busy. In short:`;
  return [head, ...messages.map(inShort)].join("\n");
}

/** What is said of messages that were deleted on their platform after the model had read them. */
export function takenBackNote(messages: readonly BriefMessage[]): string {
  const head = `${TAKEN_BACK}Their senders took these messages back. Neither answer them nor act on them:`;
  return [head, ...messages.map(inShort)].join("\n");
}

/** Whether a message of a history is a {@link takenBackNote}, which quotes what was taken back. */
export function isTakenBackNote(text: string): boolean {
  return text.startsWith(TAKEN_BACK);
}

/**
 * Earlier turns of a conversation that its client keeps itself, as a history has them. A picture that is a file is only
 * named: it is shown beside its message.
 */
export function clientHistory({ history = [] }: TurnRequest, timestamp: number): AgentMessage[] {
  return history.map(({ role, text, images = [] }): AgentMessage => {
    if (role === "user") return { role, content: withPictures(text, images), timestamp };
    const origin = { api: "client", provider: "client", model: "client" };
    return { role, content: [{ type: "text", text }], ...origin, stopReason: "end_turn", timestamp };
  });
}

function withPictures(text: string, images: readonly (InlineImage | MediaRef)[]): UserMessage["content"] {
  const names = images.flatMap((picture) => ("data" in picture ? [] : `[image, ${picture.mimeType}]`));
  const said = [text, ...names].filter((line) => line !== "").join("\n");
  const shown = images.flatMap((picture): InputBlock | [] => {
    if (!("data" in picture)) return [];
    const { mimeType, data } = picture;
    return { type: "image", mimeType, source: { kind: "base64", data } };
  });
  if (shown.length === 0) return said;
  return said === "" ? shown : [{ type: "text", text: said }, ...shown];
}

function inShort(message: BriefMessage): string {
  return `- ${formatBody(message).replace(/\s+/g, " ").slice(0, SHORTENED_CHARS)}`;
}
