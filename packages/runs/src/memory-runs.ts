import type { AgentMessage, CompactionSummaryMessage } from "@signalbox/agent-core";
import type {
  ConversationStore,
  JournalCall,
  JournalledRun,
  JournalStore,
  LeaseToken,
  PlacedMessage,
  RunWrite,
  ToolIntent,
} from "./store.ts";

/** Journals and conversations in memory: for tests, and for programs that need not outlive their process. */
export interface MemoryRuns {
  readonly runs: JournalStore;
  readonly sessions: ConversationStore;
  /** Begins a run with what was said. Gives its id. */
  begin(sessionKey: string, lease: LeaseToken, messages: readonly AgentMessage[]): string;
  /** Takes a run over under a lease of one's own. */
  adopt(write: RunWrite): void;
  /** Ends a run with its last messages. */
  finish(write: RunWrite & { readonly messages: readonly AgentMessage[] }): void;
}

export function createMemoryRuns(): MemoryRuns {
  return new Memory();
}

interface KeptRun extends JournalledRun {
  readonly sessionKey: string;
  readonly messages: PlacedMessage[];
  readonly calls: JournalCall[];
  epoch: number;
  isOver: boolean;
  isWaiting: boolean;
}

interface Conversation {
  newest: number;
  shown: PlacedMessage[];
}

class Memory implements MemoryRuns {
  readonly #runs = new Map<string, KeptRun>();
  readonly #conversations = new Map<string, Conversation>();

  readonly runs: JournalStore = {
    step: async (input) => this.#append(this.#open(input), input.messages, input.intents),
    toolStarted: async (input) => {
      const run = this.#open(input);
      const callIds = [...run.calls, ...(input.intents ?? [])].map(({ callId }) => callId);
      const unknown = input.callIds.find((callId) => !callIds.includes(callId));
      if (unknown !== undefined) throw new MemoryRunsError("not_found", `there is no call ${unknown}`);
      this.#append(run, input.messages ?? [], input.intents);
      mark(run, input.callIds, "started");
    },
    toolResults: async (input) => {
      const run = this.#open(input);
      this.#append(run, input.messages);
      mark(run, input.callIds, "done");
    },
    wait: async (input) => {
      this.#open(input).isWaiting = input.waiting;
    },
    inspect: async (runId) => {
      const run = this.#runs.get(runId);
      return run && { messages: [...run.messages], calls: [...run.calls] };
    },
  };

  readonly sessions: ConversationStore = {
    history: async (sessionKey) => [...this.#conversation(sessionKey).shown],
    compact: async (sessionKey, { summary, upTo }) => {
      const conversation = this.#conversation(sessionKey);
      const after = conversation.shown.filter(({ seq }) => seq > upTo);
      conversation.shown = [placed(conversation, summary), ...after];
    },
  };

  begin(sessionKey: string, { epoch }: LeaseToken, messages: readonly AgentMessage[]): string {
    const runId = `run-${this.#runs.size + 1}`;
    const run = { sessionKey, messages: [], calls: [], epoch, isOver: false, isWaiting: false };
    this.#runs.set(runId, run);
    this.#append(run, messages);
    return runId;
  }

  adopt({ runId, lease }: RunWrite): void {
    const run = this.#runs.get(runId);
    if (run !== undefined) run.epoch = lease.epoch;
  }

  finish(input: RunWrite & { readonly messages: readonly AgentMessage[] }): void {
    const run = this.#open(input);
    this.#append(run, input.messages);
    run.isOver = true;
  }

  /** The run, where it goes on and may be written under this lease. */
  #open({ runId, lease }: RunWrite): KeptRun {
    const run = this.#runs.get(runId);
    if (run === undefined) throw new MemoryRunsError("not_found", `there is no run ${runId}`);
    if (run.isOver) throw new MemoryRunsError("conflict", `the run ${runId} has ended`);
    if (run.epoch > lease.epoch) throw new MemoryRunsError("fenced", `the run ${runId} is another's`);
    return run;
  }

  #append(run: KeptRun, messages: readonly AgentMessage[], intents: readonly ToolIntent[] = []): void {
    const conversation = this.#conversation(run.sessionKey);
    for (const message of messages) {
      const added = placed(conversation, message);
      conversation.shown.push(added);
      run.messages.push(added);
    }
    run.calls.push(...intents.map((intent) => ({ ...intent, state: "intent" as const })));
  }

  #conversation(sessionKey: string): Conversation {
    const kept = this.#conversations.get(sessionKey) ?? { newest: 0, shown: [] };
    this.#conversations.set(sessionKey, kept);
    return kept;
  }
}

/** What a store refuses. */
class MemoryRunsError extends Error {
  override readonly name = "MemoryRunsError";
  readonly code: "not_found" | "conflict" | "fenced";

  constructor(code: MemoryRunsError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

function placed(conversation: Conversation, message: AgentMessage | CompactionSummaryMessage): PlacedMessage {
  conversation.newest += 1;
  return { seq: conversation.newest, message };
}

function mark(run: KeptRun, callIds: readonly string[], state: JournalCall["state"]): void {
  for (const [index, call] of run.calls.entries())
    if (callIds.includes(call.callId)) run.calls[index] = { ...call, state };
}
