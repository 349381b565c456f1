import type { AgentMessage } from "@signalbox/agent-core";
import type { MessageEvent } from "@signalbox/channel";
import type { Role } from "@signalbox/routing";
import type { AnyStore, Bodies } from "@signalbox/store";
import type { Agent } from "../configure/agents.ts";
import type { TriggerTerms } from "./trigger.ts";

/** Types of the JSON columns that triggers read from the store. */
export interface TriggerBodies extends Bodies {
  readonly message: AgentMessage;
  readonly inbound: { readonly event: MessageEvent; readonly role: Role };
}

export type TriggerStore = AnyStore<TriggerBodies>;

/** A run whose agent schedules or delegates work. */
export interface TriggeringRun {
  readonly agent: Pick<Agent, "id" | "subAgents">;
  /** The message being answered. */
  readonly event: MessageEvent;
  readonly messageId: string;
  readonly sessionKey: string;
  readonly runId: string;
  /** Present if a trigger started the run. */
  readonly trigger?: TriggerTerms;
}

export interface TriggerLogger {
  warn(fields: object, message: string): void;
}
