import type { Channel } from "../contract/definition.ts";
import type { Draft, DraftOptions, Outbound } from "../contract/messages.ts";
import { never } from "./bench.ts";
import { method } from "./check.ts";
import type { Platform } from "./harness.ts";

/** Creates a message with one text part per text. */
export function message(...texts: string[]): Outbound {
  return { parts: texts.map((text) => ({ type: "text" as const, text })) };
}

interface Opened<Address> {
  readonly platform: Platform<Address>;
  readonly channel: Channel<Address>;
}

/** Returns the texts of the bot's messages on the platform. */
export function sentTexts<Address>({ platform }: Pick<Opened<Address>, "platform">): string[] {
  return platform.sent().map(({ text }) => text);
}

/** Opens a draft in the conversation that the bot may write to, as a reply if the platform requires that. */
export function openDraft<Address>(
  { channel, platform }: Opened<Address>,
  options: Partial<DraftOptions> = {},
): Promise<Draft> {
  return method(channel, "openDraft")(platform.to, {
    idempotencyKey: "conf-1",
    signal: never,
    replyTo: platform.draftReplyTo,
    ...options,
  });
}
