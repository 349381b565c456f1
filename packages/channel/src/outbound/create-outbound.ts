import type { Capabilities } from "../contract/capabilities.ts";
import type { MediaPart, Outbound } from "../contract/messages.ts";
import { splitText } from "../markdown/split-text.ts";

/** Splits a reply into parts according to the channel's capabilities, followed by its attachments. */
export function createOutbound(
  text: string,
  replyTo: string | undefined,
  capabilities: Capabilities,
  attached: readonly MediaPart[] = [],
): Outbound {
  const type = capabilities.text.markup === "markdown" ? "markdown" : "text";
  const texts = text === "" ? [] : splitText(text, capabilities.text);
  const parts = [...texts.map((part) => ({ type, text: part }) as const), ...attached];
  return { parts, replyTo: capabilities.threads === "none" ? undefined : replyTo || undefined };
}
