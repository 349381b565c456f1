import type { MessageEvent } from "@signalbox/channel";
import { ChatMessage, type Problem, RunEnd, type RunOutcome, type RunUsage } from "@signalbox/protocol";
import { getNoteId } from "@signalbox/runs";
import * as z from "zod/mini";
import type { CoreContext } from "../core-context.ts";
import type { PlacedMessage } from "./service-store.ts";
import { sessionSeed } from "./session-seed.ts";
import { attachmentsSeen } from "./visible-attachments.ts";

/**
 * A message and its answer outside the model's conversation: a command, a rejected message, or a notice about a run. It
 * is stored for clients that show the history.
 */
export interface Exchange {
  readonly messages: readonly ChatMessage[];
  /** Absent for a notice about a run, whose end is stored with the run. */
  readonly end?: RunEnd;
}

/** Stores the exchanges of each session. */
export interface ExchangeReader {
  list(sessionKey: string): Promise<readonly Exchange[]>;
  /** Returns the stored answer to a command or to a message without a run, if any. */
  getAnswer(sessionKey: string, id: string): Promise<string | undefined>;
  remove(sessionKey: string): Promise<void>;
}

const exchangeSchema = z.object({ messages: z.array(ChatMessage), end: z.optional(RunEnd) });

/** The answer to one or more messages. */
interface Answer {
  /** Id of the run, or of the message if there was no run. */
  readonly id: string;
  /** Absent if there was no answer. */
  readonly text?: string;
  readonly outcome: RunOutcome;
  readonly usage?: RunUsage;
  readonly error?: Problem;
  /** True if the message started a new session. */
  readonly begins?: boolean;
}

export interface Exchanges extends ExchangeReader {
  /** Stores an exchange for the session's history. This is idempotent, so it may be repeated after a crash. */
  keep(sessionKey: string, messages: readonly PlacedMessage[], said: Answer): Promise<void>;
  /** Stores a notice about a run whose messages are in the history. */
  addNote(
    sessionKey: string,
    channel: Place,
    said: { readonly runId: string; readonly text: string },
  ): Promise<void>;
}

/** The account that received a message. */
interface Place {
  readonly channel: string;
  readonly account: string;
}

/** Retention time in milliseconds, the same as for run journals. */
const RETENTION_MS = 30 * 24 * 60 * 60 * 1000;

export function createExchanges({ store, getCapabilities, redact, now }: CoreContext): Exchanges {
  /**
   * Returns how an exchange will be used later, if at all. Chat platforms keep their own history. Clients that wait for
   * one answer do not read the history but may request the answer again.
   */
  const getReader = ({ channel, account }: Place): "looks-back" | "asks-again" | undefined => {
    const { readsSession, awaitsSingleAnswer } = getCapabilities(channel, account) ?? {};
    if (readsSession !== true) return undefined;
    return awaitsSingleAnswer === true ? "asks-again" : "looks-back";
  };
  const put = (sessionKey: string, id: string, exchange: Exchange): Promise<void> =>
    store.kv.set(getNamespace(sessionKey), id, exchange, RETENTION_MS);
  return {
    async keep(sessionKey, messages, { id, text, begins, error, ...end }) {
      const [first] = messages;
      const reader = first && getReader(first.stored.event);
      if (first === undefined || reader === undefined) return;
      const runId = id;
      const asked = messages.map(({ stored: { event } }) => toQuestionMessage(event, runId, begins));
      const answer = text === undefined ? [] : [toAnswerMessage(runId, text, now())];
      // A session may start with a command. Create it, so that the history can be shown.
      if (reader === "looks-back") await store.sessions.ensure(sessionSeed(first));
      const why = error === undefined ? {} : { error: { ...error, message: redact(error.message) } };
      await put(sessionKey, id, { messages: [...asked, ...answer], end: { ...end, ...why, runId } });
    },
    async addNote(sessionKey, place, { runId, text }) {
      if (getReader(place) === "looks-back")
        await put(sessionKey, runId, { messages: [toAnswerMessage(runId, text, now())] });
    },
    async list(sessionKey): Promise<Exchange[]> {
      const kept = await store.kv.list(getNamespace(sessionKey));
      return kept.flatMap(({ value }) => exchangeSchema.safeParse(value).data ?? []);
    },
    async getAnswer(sessionKey, id) {
      const { data } = exchangeSchema.safeParse(await store.kv.get(getNamespace(sessionKey), id));
      return data?.messages.find(({ role }) => role === "assistant")?.text;
    },
    async remove(sessionKey) {
      const namespace = getNamespace(sessionKey);
      // Delete all entries in parallel, so that they share a commit.
      await Promise.all((await store.kv.list(namespace)).map(({ key }) => store.kv.delete(namespace, key)));
    },
  };
}

function toQuestionMessage(event: MessageEvent, runId: string, begins: boolean | undefined): ChatMessage {
  const { messageId, text, timestamp } = event;
  const message: ChatMessage = {
    id: messageId,
    role: "user",
    text,
    at: timestamp,
    runId,
    ...attachmentsSeen(event),
  };
  return begins === true ? { ...message, begins } : message;
}

function toAnswerMessage(runId: string, text: string, at: number): ChatMessage {
  return { id: getNoteId(runId), role: "assistant", text, at, runId };
}

function getNamespace(sessionKey: string): string {
  return `exchanges ${sessionKey}`;
}
