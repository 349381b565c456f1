import type { AgentMessage, RunUsage, UserMessage } from "@signalbox/agent-core";
import type { RunHandle } from "@signalbox/lanes";
import { sumUsage } from "@signalbox/runs";
import type { InterruptedRun, JournalCall, RunId } from "@signalbox/store";
import type { Agent } from "../../configure/agents.ts";
import type { AgentModel } from "../../configure/models.ts";
import type { GatewayContext } from "../../context.ts";
import { isTakenBack, type Queued, type QueuedMessage } from "../../messages/queued-message.ts";
import type { GatewayBodies } from "../../store.ts";
import { readMessageOrder } from "../4-queue/read-order.ts";

/** A run that is on record: from here on it has to end, and an end is all that it needs. */
export interface BegunRun {
  readonly runId: RunId;
  readonly sessionKey: string;
  /** The messages it answers; steering adds to them. */
  readonly messages: QueuedMessage[];
  readonly handle: Pick<RunHandle<Queued>, "recalled">;
  /** Usage of a resumed run before it was interrupted. Absent for a new run. */
  readonly usedBefore?: RunUsage;
}

/** The same of one that was left: what its messages order, and which of them were deleted, is read again. */
export function begunRun(ctx: GatewayContext, left: InterruptedRun<GatewayBodies>): BegunRun {
  const { id: runId, sessionKey, agentId } = left.run;
  const messages = left.inbox.map(({ id, seq, payload: stored }): QueuedMessage => {
    const order = readMessageOrder(ctx, stored, agentId);
    const message = { kind: "message", id, seq, sessionKey, agentId, stored, exclusive: false } as const;
    return order === undefined ? message : { ...message, order };
  });
  const recalled = new Set<string>(left.inbox.filter(isTakenBack).map(({ id }) => id));
  const usedBefore = sumUsage(left.messages.map(({ message }) => message));
  return { runId, sessionKey, messages, handle: { recalled }, usedBefore };
}

/** A message, and how the history has it. */
export interface Spoken {
  readonly message: QueuedMessage;
  readonly words: UserMessage;
  /** Sequence number in the session. */
  readonly place: number;
}

/** A run of an agent that is on record. */
export interface OpenedRun extends BegunRun {
  readonly handle: RunHandle<Queued>;
  readonly agent: Agent;
  readonly agentModel: AgentModel;
  readonly generation: number;
  /** Data stored with the session when the run was opened. */
  readonly sessionData: unknown;
  readonly history: readonly AgentMessage[];
  /** The new messages; absent: it continues from the history. */
  readonly input?: readonly UserMessage[];
  /** The run's messages that `input` or `history` holds as separate messages. */
  readonly spoken: readonly Spoken[];
  /** Places of the messages of `history` and `input` in the session. */
  readonly seqs: readonly number[];
  /** Its calls that are on record from an earlier process. */
  readonly calls: readonly JournalCall[];
  /** Texts of the run's turns before this process took it up. */
  readonly earlier: readonly string[];
  /** Texts the message tool has sent to this conversation. */
  readonly sentByTool: string[];
}

/** The next step for queued messages or an interrupted run. */
export type Opened =
  | { readonly kind: "run"; readonly run: OpenedRun }
  /** No run can answer these; what is left may have one. */
  | {
      readonly kind: "refused";
      readonly messages: readonly QueuedMessage[];
      readonly code: "no_agent" | "no_model" | "poison";
      readonly message: string;
      readonly left?: NewMessages;
    }
  /** A run of an earlier process that cannot go on. */
  | { readonly kind: "over"; readonly run: BegunRun; readonly why: "taken_back" | "no_agent" | "poison" }
  /** A command that an earlier process began. */
  | {
      readonly kind: "command";
      readonly run: BegunRun;
      readonly handle: RunHandle<Queued>;
      readonly interrupted: InterruptedRun<GatewayBodies>;
    }
  | { readonly kind: "nothing" };

/** The rest of the work on messages whose run broke off. */
export interface Unfinished {
  /** The recorded run. */
  readonly held: InterruptedRun<GatewayBodies> | undefined;
  /** The messages that have no run yet. */
  readonly waiting: readonly QueuedMessage[];
}

/** Messages that have no run yet. */
export interface NewMessages {
  readonly messages: readonly QueuedMessage[];
  /** Older messages beyond the queue's cap, which the model gets as a summary. */
  readonly summarised: readonly QueuedMessage[];
}
