import type { Capabilities } from "../contract/capabilities.ts";
import type { MediaPart, Outbound } from "../contract/messages.ts";
import { chunkText } from "../markdown/on-demand.ts";

/** Splits a reply into the parts a channel can take, followed by its attachments. */
export function outboundOf(
  text: string,
  replyTo: string | undefined,
  capabilities: Capabilities,
  attached: readonly MediaPart[] = [],
): Outbound {
  const type = capabilities.text.markup === "markdown" ? "markdown" : "text";
  const said = text === "" ? [] : chunkText(text, capabilities.text);
  const parts = [...said.map((part) => ({ type, text: part }) as const), ...attached];
  return { parts, ...(!replyTo || capabilities.threads === "none" ? {} : { replyTo }) };
}
