import type { MessageEvent } from "@signalbox/channel";
import type { Role } from "@signalbox/routing";
import type { InboxId, RunId } from "@signalbox/store";
import type { CurrentRights, MayAttach } from "@signalbox/tools";
import type { Agent } from "../configure/agents.ts";
import type { TriggerTerms } from "../triggers/trigger.ts";

/** Facts about a run that its tools depend on. */
export interface ToolRun {
  readonly agent: Agent;
  /** The message being answered. */
  readonly event: MessageEvent;
  readonly role: Role;
  /** Id of the author, see `speakerOf` in `@signalbox/channel`. */
  readonly speaker: string;
  /** Models that may answer in the run, as `provider/model`. Absent for commands, which call no model. */
  readonly models?: readonly string[];
  readonly sessionKey: string;
  readonly runId: RunId;
  /** Present where the gateway has woken the agent. */
  readonly trigger?: TriggerTerms;
  /** The message whose trace tells of the decisions. */
  readonly messageId: InboxId;
  /** Returns the current rights of the run, or undefined if a person whom it answers has lost theirs. */
  readonly getCurrentRights: () => Promise<CurrentRights | undefined>;
  /** Told a text, and what went with it, that the message tool has sent to this very conversation. */
  readonly onSent: (text: string, media: readonly string[]) => void;
}

/** A run with what its tools may give out. */
export interface ActiveRun extends ToolRun {
  /** Decided, and noted, as a `read` of it would be. */
  readonly mayAttach: MayAttach;
}
