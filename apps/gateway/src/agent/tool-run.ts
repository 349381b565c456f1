import type { MessageEvent } from "@signalbox/channel";
import type { Role } from "@signalbox/routing";
import type { InboxId, RunId } from "@signalbox/store";
import type { CurrentRights, MayAttach } from "@signalbox/tools";
import type { Agent } from "../configure/agents.ts";
import type { TriggerTerms } from "../triggers/trigger.ts";

/** What a run's tools depend on. */
export interface ToolRun {
  readonly agent: Agent;
  /** The message being answered. */
  readonly event: MessageEvent;
  readonly role: Role;
  /** Who wrote it, see `speakerOf` of `@signalbox/channel`. */
  readonly speaker: string;
  /** The models that may answer in it, `provider/model`; absent where none is asked, as for a command. */
  readonly models?: readonly string[];
  readonly sessionKey: string;
  readonly runId: RunId;
  /** Present where the gateway has woken the agent. */
  readonly trigger?: TriggerTerms;
  /** The message whose trace tells of the decisions. */
  readonly messageId: InboxId;
  /** What its agent and the people it answers may do now; undefined if one of them may do nothing any more. */
  readonly getCurrentRights: () => Promise<CurrentRights | undefined>;
  /** Told a text, and what went with it, that the message tool has sent to this very conversation. */
  readonly onSent: (text: string, media: readonly string[]) => void;
}

/** A run with what its tools may give out. */
export interface ActiveRun extends ToolRun {
  /** Decided, and noted, as a `read` of it would be. */
  readonly mayAttach: MayAttach;
}
