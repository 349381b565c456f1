import type { Phrases } from "@signalbox/phrases";
import { getTokenName, type Role } from "@signalbox/routing";
import type { InboxId } from "@signalbox/store";
import type { Agent } from "../configure/agents.ts";
import type { GatewayContext } from "../context.ts";
import type { PlacedMessage, StoredMessage } from "../messages/service-store.ts";

/** An owner's decision about a pending tool call. */
export type Decision = "allow" | "allow-always" | "deny";

/** The message that contained a command. */
export interface CommandMessage extends PlacedMessage {
  readonly id: InboxId;
  readonly stored: StoredMessage & { readonly role: Role };
  /** Position in the session. Increases in the order in which messages were accepted. */
  readonly seq: number;
}

/** A command from a person. */
export interface AskedCommand {
  readonly message: CommandMessage;
  readonly agent: Agent;
  readonly args: string;
  /** Phrases in the language of the sender. */
  readonly phrases: Phrases;
}

export type Answer = (ctx: GatewayContext, asked: AskedCommand) => string | Promise<string>;

/** Returns the immutable id of the sender. For the gateway's own clients, this is the token's holder. */
export function speaker({ getCapabilities }: GatewayContext, { stored: { event } }: CommandMessage): string {
  const { channel, account, sender } = event;
  const isOwn = getCapabilities(channel, account)?.authenticatedByGateway === true;
  const holdsGatewayToken = isOwn && getTokenName(sender.id) === undefined;
  return `${channel}:${holdsGatewayToken ? "token" : sender.id}`;
}
