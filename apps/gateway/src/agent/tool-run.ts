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
  /** Terms of the trigger that started the run, if it was not a person. */
  readonly trigger?: TriggerTerms;
  /** The message in whose trace decisions are recorded. */
  readonly messageId: InboxId;
  /** Returns the current rights of the run, or undefined if a person whom it answers has lost theirs. */
  readonly getCurrentRights: () => Promise<CurrentRights | undefined>;
  /** Called with the text and media that the message tool sent to the run's own conversation. */
  readonly onSent: (text: string, media: readonly string[]) => void;
}

/** A run together with its permission check for attachments. */
export interface ActiveRun extends ToolRun {
  /** Decides about an attachment, and records the decision, like a `read` of the file. */
  readonly mayAttach: MayAttach;
  /** Returns true if the run may know of a place in the agent's folder. */
  readonly isVisible: (path: string) => boolean;
}
