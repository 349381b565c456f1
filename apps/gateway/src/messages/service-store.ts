import type { AgentMessage } from "@signalbox/agent-core";
import type { MessageEvent } from "@signalbox/channel";
import type { AnyStore, Bodies, InboxRow } from "@signalbox/store";

/** A stored message with its admission rule. */
export interface StoredMessage {
  readonly event: MessageEvent;
  readonly rule: string;
}

/** A message with its session and agent. */
export interface PlacedMessage {
  readonly sessionKey: string;
  readonly agentId: string;
  readonly stored: Pick<StoredMessage, "event">;
}

/** Types of the JSON columns that the gateway stores. */
export interface ServiceBodies extends Bodies {
  readonly message: AgentMessage;
  readonly inbound: StoredMessage;
}

export type ServiceStore = AnyStore<ServiceBodies>;
export type StoredRow = InboxRow<ServiceBodies>;
