import type { AgentMessage } from "@signalbox/agent-core";
import type { MessageEvent } from "@signalbox/channel";
import type { DeliveryMessage } from "@signalbox/delivery";
import type { Role } from "@signalbox/routing";
import type { Bodies, InboxId, SqliteStore } from "@signalbox/store";
import type { Approval } from "@signalbox/tools";
import type { TriggerTerms } from "./triggers/trigger.ts";

/** An inbound message as the inbox keeps it: all that a run after a restart needs. */
export interface InboundRecord {
  /** `messageId` is empty if the platform has no message to answer, for example for a native command. */
  readonly event: MessageEvent;
  readonly role: Role;
  /** The rule that let it in. */
  readonly rule: string;
  /** For a message that addresses the agent only since it was edited: the inbox row that answers it. */
  readonly answeredAs?: InboxId;
  /** Present if no one wrote it: the gateway itself has woken an agent. */
  readonly trigger?: TriggerTerms;
}

/** Contents of the gateway's rows in the store. */
export interface GatewayBodies extends Bodies {
  readonly message: AgentMessage;
  readonly inbound: InboundRecord;
  readonly outbound: DeliveryMessage;
  readonly approval: Approval;
}

export type GatewayStore = SqliteStore<GatewayBodies>;
