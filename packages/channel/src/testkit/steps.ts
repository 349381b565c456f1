import type { Channel } from "../contract/definition.ts";
import type { Draft, DraftOptions, Outbound } from "../contract/messages.ts";
import { never } from "./bench.ts";
import { method } from "./check.ts";
import type { Platform } from "./harness.ts";

/** A message of so many parts. */
export function words(...texts: string[]): Outbound {
  return { parts: texts.map((text) => ({ type: "text" as const, text })) };
}

interface Opened<Address> {
  readonly platform: Platform<Address>;
  readonly channel: Channel<Address>;
}

/** What people see of the bot's messages. */
export function texts<Address>({ platform }: Pick<Opened<Address>, "platform">): string[] {
  return platform.sent().map(({ text }) => text);
}

/** Begins a draft where the bot may write. */
export function openDraft<Address>(
  { channel, platform }: Opened<Address>,
  options: Partial<DraftOptions> = {},
): Promise<Draft> {
  return method(channel, "openDraft")(platform.to, { idempotencyKey: "conf-1", signal: never, ...options });
}
