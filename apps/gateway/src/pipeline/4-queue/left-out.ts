import type { LanesOptions, Supervisor } from "@signalbox/lanes";
import { noteId } from "@signalbox/runs";
import type { LiveHub, Outcome } from "@signalbox/server";
import type { InboxId, OutboxRow } from "@signalbox/store";
import type { Exchanges } from "../../api/exchange.ts";
import type { GatewayBodies, GatewayStore } from "../../store.ts";
import type { Tracer } from "../../traces.ts";
import { judgeLasting } from "../failures.ts";
import { putWord, type WordPorts } from "../word.ts";
import { messagesIn, type Queued, type QueuedMessage } from "./message.ts";

export interface LeaveOutPorts extends WordPorts {
  readonly store: Pick<GatewayStore, "inbox" | "outbox">;
  readonly supervisor: Pick<Supervisor, "run">;
  readonly deliver: (rows: readonly OutboxRow<GatewayBodies>[]) => void;
  readonly exchanges: Pick<Exchanges, "keep">;
  readonly live: Pick<LiveHub, "publish">;
  readonly tracer: Tracer;
  readonly onOutcome: (id: InboxId, outcome: Outcome) => void;
}

/** A word about a full queue is of no use later, in milliseconds. */
const WORD_TTL_MS = 60 * 60 * 1000;

/** Ends messages that get no run: too many waited, or a person stopped them. */
export function createLeaveOut(options: LeaveOutPorts): LanesOptions<Queued>["leaveOut"] {
  const { store, exchanges, live, tracer, supervisor } = options;

  const end = async (left: QueuedMessage, rule: string, word: string | undefined): Promise<void> => {
    const said = word === undefined ? {} : { text: word };
    await exchanges.keep(left.sessionKey, [left], { id: left.id, ...said, outcome: "aborted" });
    if (word !== undefined) await tell(options, left, word);
    await store.inbox.settle(left.id, "ignored", { rule });
  };

  return (items, why) => {
    const told = why.kind === "full" ? why.first : [];
    for (const left of messagesIn(items)) {
      const { id, sessionKey, stored } = left;
      const rule = why.kind === "full" ? "queue_full" : "stopped";
      const said =
        why.kind === "full" && told.includes(left)
          ? options.phrasesOf(left).tooManyWait(why.drop, why.cap)
          : undefined;
      void supervisor.run({
        name: `end the message ${id}, which gets no run`,
        attempt: () => end(left, rule, said),
        judge: judgeLasting,
      });
      const what =
        why.kind === "full" ? "dropped: too many messages wait in this conversation" : "dropped by a stop";
      tracer.note(id, "lane", what);
      const error = { code: rule, message: `The message was ${what}.` };
      options.onOutcome(id, { state: "ignored", text: "", error });
      const answers = [stored.event.messageId];
      live.publish(sessionKey, { type: "run.end", runId: id, answers, outcome: "aborted" });
    }
  };
}

async function tell(options: LeaveOutPorts, left: QueuedMessage, text: string): Promise<void> {
  const rows = await putWord(options, left, text, { ttlMs: WORD_TTL_MS, isAnswer: false });
  if (rows !== undefined) return options.deliver(rows);
  const { id, sessionKey } = left;
  const message = { id: noteId(id), role: "assistant", text, at: options.now(), runId: id } as const;
  options.live.publish(sessionKey, { type: "message", message });
}
