import type { AgentMessage } from "@signalbox/agent-core";
import type { MessageEvent } from "@signalbox/channel";
import type { Bodies, InboxRow, SqliteStore } from "@signalbox/store";

/** A message as the service reads it back: its event, and the rule that let it in. */
export interface StoredMessage {
  readonly event: MessageEvent;
  readonly rule: string;
}

/** A message with the session that it belongs to, whose agent answers it. */
export interface PlacedMessage {
  readonly sessionKey: string;
  readonly agentId: string;
  readonly stored: Pick<StoredMessage, "event">;
}

/** Types of the JSON columns that the gateway keeps in the store. */
export interface ServiceBodies extends Bodies {
  readonly message: AgentMessage;
  readonly inbound: StoredMessage;
}

export type ServiceStore = SqliteStore<ServiceBodies>;
export type StoredRow = InboxRow<ServiceBodies>;
