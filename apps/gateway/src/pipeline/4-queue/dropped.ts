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

export interface DroppedPorts extends WordPorts {
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

/** Ends messages that get no run because too many waited or a person stopped them. */
export function createOnDropped(options: DroppedPorts): NonNullable<LanesOptions<Queued>["onDropped"]> {
  const { store, exchanges, live, tracer, supervisor } = options;

  const end = async (dropped: QueuedMessage, rule: string, word: string | undefined): Promise<void> => {
    const said = word === undefined ? {} : { text: word };
    await exchanges.keep(dropped.sessionKey, [dropped], { id: dropped.id, ...said, outcome: "aborted" });
    if (word !== undefined) await tell(options, dropped, word);
    await store.inbox.settle(dropped.id, "ignored", { rule });
  };

  return (items, reason) => {
    const told = reason.kind === "full" ? reason.first : [];
    for (const dropped of messagesIn(items)) {
      const { id, sessionKey, stored } = dropped;
      const rule = reason.kind === "full" ? "queue_full" : "stopped";
      const said =
        reason.kind === "full" && told.includes(dropped)
          ? options.phrasesOf(dropped).tooManyWait(reason.drop, reason.cap)
          : undefined;
      void supervisor.run({
        name: `end the message ${id}, which gets no run`,
        attempt: () => end(dropped, rule, said),
        retryPolicy: judgeLasting,
      });
      const what =
        reason.kind === "full" ? "dropped: too many messages wait in this conversation" : "dropped by a stop";
      tracer.note(id, "lane", what);
      const error = { code: rule, message: `The message was ${what}.` };
      options.onOutcome(id, { state: "ignored", text: "", error });
      const answers = [stored.event.messageId];
      live.publish(sessionKey, { type: "run.end", runId: id, answers, outcome: "aborted" });
    }
  };
}

async function tell(options: DroppedPorts, dropped: QueuedMessage, text: string): Promise<void> {
  const rows = await putWord(options, dropped, text, { ttlMs: WORD_TTL_MS, isAnswer: false });
  if (rows !== undefined) return options.deliver(rows);
  const { id, sessionKey } = dropped;
  const message = { id: noteId(id), role: "assistant", text, at: options.now(), runId: id } as const;
  options.live.publish(sessionKey, { type: "message", message });
}
