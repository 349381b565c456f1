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
  /** Models that may answer in the run, as `provider/model`. Absent for commands, which do not call a model. */
  readonly models?: readonly string[];
  readonly sessionKey: string;
  readonly runId: RunId;
  /** Terms of the trigger that started the run. Absent if a person started it. */
  readonly trigger?: TriggerTerms;
  /** The message whose trace contains the decisions. */
  readonly messageId: InboxId;
  /** Returns the current rights of the run, or undefined if a person whom the run answers has lost their rights. */
  readonly getCurrentRights: () => Promise<CurrentRights | undefined>;
  /** Called with the text and media that the message tool sent to the run's own conversation. */
  readonly onSent: (text: string, media: readonly string[]) => void;
}

/** A run and its permission check for attachments. */
export interface ActiveRun extends ToolRun {
  /** Decides about an attachment and records the decision, as for a `read` of the file. */
  readonly mayAttach: MayAttach;
  /** Returns true if the run may know about a path in the agent's folder. */
  readonly isVisible: (path: string) => boolean;
}
