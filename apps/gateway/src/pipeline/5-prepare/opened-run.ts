import type { AgentMessage, RunUsage, UserMessage } from "@signalbox/agent-core";
import type { RunHandle } from "@signalbox/lanes";
import { sumUsage } from "@signalbox/runs";
import type { InboxId, InterruptedRun, JournalCall, RunId } from "@signalbox/store";
import type { Agent } from "../../configure/agents.ts";
import type { AgentModel } from "../../configure/models.ts";
import type { GatewayContext } from "../../context.ts";
import { isMessagesDeleted, type Queued, type QueuedMessage } from "../../messages/queued-message.ts";
import type { GatewayBodies } from "../../store.ts";
import { readMessageOrder } from "../4-queue/read-order.ts";

/** A recorded run. These properties are sufficient to end it. */
export interface BegunRun {
  readonly runId: RunId;
  readonly sessionKey: string;
  /** The messages that the run answers. Steering adds to them. */
  readonly messages: QueuedMessage[];
  readonly handle: Pick<RunHandle<Queued>, "recalled">;
  /** Usage of a resumed run before it was interrupted. Absent for a new run. */
  readonly usedBefore?: RunUsage;
  /** Deleted messages that a note in the history already mentions. */
  readonly notedDeletions?: ReadonlySet<InboxId>;
}

/** Restores a run from an earlier process. Parses the orders and looks up the deletions again. */
export function begunRun(ctx: GatewayContext, left: InterruptedRun<GatewayBodies>): BegunRun {
  const { id: runId, sessionKey, agentId } = left.run;
  const messages = left.inbox.map(({ id, seq, payload: stored }): QueuedMessage => {
    const order = readMessageOrder(ctx, stored, left.run);
    const message = { kind: "message", id, seq, sessionKey, agentId, stored, exclusive: false } as const;
    return order === undefined ? message : { ...message, order };
  });
  const recalled = new Set<string>(left.inbox.filter(isMessagesDeleted).map(({ id }) => id));
  const usedBefore = sumUsage(left.messages.map(({ message }) => message));
  return { runId, sessionKey, messages, handle: { recalled }, usedBefore };
}

/** A message and its form in the history. */
export interface Spoken {
  readonly message: QueuedMessage;
  readonly words: UserMessage;
  /** Sequence number in the session. */
  readonly place: number;
}

/** A recorded run of an agent. */
export interface OpenedRun extends BegunRun {
  readonly handle: RunHandle<Queued>;
  readonly agent: Agent;
  readonly agentModel: AgentModel;
  readonly generation: number;
  /** Data that was stored with the session when the run was opened. */
  readonly sessionData: unknown;
  readonly history: readonly AgentMessage[];
  /** The new messages. Absent if the run continues from the history. */
  readonly input?: readonly UserMessage[];
  /** The messages of the run that are separate messages in `input` or `history`. */
  readonly spoken: readonly Spoken[];
  /** Sequence numbers in the session of the messages in `history` and `input`. */
  readonly seqs: readonly number[];
  /** Tool calls that an earlier process recorded. */
  readonly calls: readonly JournalCall[];
  /** Texts of the turns before this process resumed the run. */
  readonly earlier: readonly string[];
  /** Texts that the message tool sent to this conversation. */
  readonly sentByTool: string[];
  readonly notedDeletions: Set<InboxId>;
}

/** The next step for queued messages or an interrupted run. */
export type Opened =
  | { readonly kind: "run"; readonly run: OpenedRun }
  /** No run can answer these messages. The messages in `left` may still get one. */
  | {
      readonly kind: "refused";
      readonly messages: readonly QueuedMessage[];
      readonly code: "no_agent" | "no_model" | "poison";
      readonly message: string;
      readonly left?: NewMessages;
    }
  /** A run from an earlier process that cannot be resumed. */
  | { readonly kind: "over"; readonly run: BegunRun; readonly why: "taken_back" | "no_agent" | "poison" }
  /** A command that an earlier process started. */
  | {
      readonly kind: "command";
      readonly run: BegunRun;
      readonly handle: RunHandle<Queued>;
      readonly interrupted: InterruptedRun<GatewayBodies>;
    }
  | { readonly kind: "nothing" };

/** Unfinished messages whose run was interrupted. */
export interface Unfinished {
  /** The recorded run. */
  readonly held: InterruptedRun<GatewayBodies> | undefined;
  /** The messages that have no run yet. */
  readonly waiting: readonly QueuedMessage[];
}

/** Messages that have no run yet. */
export interface NewMessages {
  readonly messages: readonly QueuedMessage[];
  /** Older messages beyond the queue's limit, which the model receives as a summary. */
  readonly summarised: readonly QueuedMessage[];
}
