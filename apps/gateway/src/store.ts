import type { AgentMessage } from "@signalbox/agent-core";
import type { MessageEvent } from "@signalbox/channel";
import type { DeliveryMessage } from "@signalbox/delivery";
import type { Role } from "@signalbox/routing";
import type { AnyStore, Bodies, InboxId } from "@signalbox/store";
import type { Approval } from "@signalbox/tools";
import type { TriggerTerms } from "./triggers/trigger.ts";

/** A stored message with everything that a run needs after a restart. */
export interface InboundRecord {
  /** `messageId` is empty if the platform has no message to answer, for example for a native command. */
  readonly event: MessageEvent;
  readonly role: Role;
  /** Admission rule of the message. */
  readonly rule: string;
  /** If the message addresses the agent only since it was edited, the inbox row that answers it. */
  readonly answeredAs?: InboxId;
  /** Present if no person wrote the message and the gateway itself triggered the agent. */
  readonly trigger?: TriggerTerms;
}

/** Types of the JSON columns in the gateway's store. */
export interface GatewayBodies extends Bodies {
  readonly message: AgentMessage;
  readonly inbound: InboundRecord;
  readonly outbound: DeliveryMessage;
  readonly approval: Approval;
}

export type GatewayStore = AnyStore<GatewayBodies>;
