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
  /** What its turns had used when it was left; absent for a new run. */
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
  /** Where they stand in the session. */
  readonly place: number;
}

/** A run of an agent that is on record. */
export interface OpenedRun extends BegunRun {
  readonly handle: RunHandle<Queued>;
  readonly agent: Agent;
  readonly agentModel: AgentModel;
  readonly generation: number;
  /** What was kept with the session when the run was opened. */
  readonly sessionData: unknown;
  readonly history: readonly AgentMessage[];
  /** The new messages; absent: it continues from the history. */
  readonly input?: readonly UserMessage[];
  /** Its messages that stand in `input` or `history` in words of their own. */
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

/** What to do with messages whose turn it is, or with a run that continues. */
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

/** Messages for a run of their own. */
export interface NewMessages {
  readonly messages: readonly QueuedMessage[];
  /** Older ones beyond the queue's cap, to be told in short. */
  readonly summarised: readonly QueuedMessage[];
}
