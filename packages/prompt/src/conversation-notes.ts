import type { AgentMessage, InputBlock, UserMessage } from "@signalbox/agent-core";
import type { InlineImage, MediaRef, TurnRequest } from "@signalbox/channel";
import { formatBody } from "./envelope.ts";

/** A message in a note. */
export interface BriefMessage {
  readonly messageId: string;
  readonly senderName: string;
  readonly text: string;
}

const MAX_CHARS = 200;
const DELETED = "(deleted) ";

/** Lists messages that arrived while the agent was busy and were too many to pass on in full. */
export function createSummaryNote(messages: readonly BriefMessage[]): string {
  const head = `${messages.length} earlier messages arrived while you were busy. Summary:`;
  return [head, ...messages.map(shorten)].join("\n");
}

/** Creates a note to the model about messages that were deleted on their platform after the model had read them. */
export function createDeletedNote(messages: readonly BriefMessage[]): string {
  const head = `${DELETED}These messages were deleted by their senders. Neither answer them nor act on them:`;
  return [head, ...messages.map(shorten)].join("\n");
}

/** Returns true if a message in a history is a {@link createDeletedNote}, which quotes the deleted text. */
export function isDeletedNote(text: string): boolean {
  return text.startsWith(DELETED);
}

/**
 * Converts the earlier turns of a conversation that its client stores to a history. An image that is stored as a file
 * is only mentioned here and shown with its message.
 */
export function createClientHistory({ history = [] }: TurnRequest, timestamp: number): AgentMessage[] {
  return history.map(({ role, text, images = [] }): AgentMessage => {
    if (role === "user") return { role, content: withImages(text, images), timestamp };
    const origin = { api: "client", provider: "client", model: "client" };
    return { role, content: [{ type: "text", text }], ...origin, stopReason: "end_turn", timestamp };
  });
}

function withImages(text: string, images: readonly (InlineImage | MediaRef)[]): UserMessage["content"] {
  const names = images.flatMap((image) => ("data" in image ? [] : `[image, ${image.mimeType}]`));
  const words = [text, ...names].filter((line) => line !== "").join("\n");
  const shown = images.flatMap((image): InputBlock | [] => {
    if (!("data" in image)) return [];
    const { mimeType, data } = image;
    return { type: "image", mimeType, source: { kind: "base64", data } };
  });
  if (shown.length === 0) return words;
  return words === "" ? shown : [{ type: "text", text: words }, ...shown];
}

function shorten(message: BriefMessage): string {
  return `- ${formatBody(message).replace(/\s+/g, " ").slice(0, MAX_CHARS)}`;
}
