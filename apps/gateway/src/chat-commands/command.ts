import type { Phrases } from "@signalbox/phrases";
import { type Role, tokenOfHolder } from "@signalbox/routing";
import type { InboxId } from "@signalbox/store";
import type { Agent } from "../configure/agents.ts";
import type { GatewayContext } from "../context.ts";
import type { PlacedMessage, StoredMessage } from "../messages/service-store.ts";

/** An owner's decision about a pending tool call. */
export type Decision = "allow" | "allow-always" | "deny";

/** The message that a command came in. */
export interface CommandMessage extends PlacedMessage {
  readonly id: InboxId;
  readonly stored: StoredMessage & { readonly role: Role };
  /** Rises within its session in the order in which messages were accepted. */
  readonly seq: number;
}

/** A person's command. */
export interface AskedCommand {
  readonly message: CommandMessage;
  readonly agent: Agent;
  readonly args: string;
  /** The phrases for the person who asks. */
  readonly phrases: Phrases;
}

export type Answer = (ctx: GatewayContext, asked: AskedCommand) => string | Promise<string>;

/** The immutable id of who speaks. Where only the gateway's own clients are, that is the token that they hold. */
export function speaker({ getCapabilities }: GatewayContext, { stored: { event } }: CommandMessage): string {
  const { channel, account, sender } = event;
  const isOwn = getCapabilities(channel, account)?.authenticatedByGateway === true;
  const holdsGatewayToken = isOwn && tokenOfHolder(sender.id) === undefined;
  return `${channel}:${holdsGatewayToken ? "token" : sender.id}`;
}
