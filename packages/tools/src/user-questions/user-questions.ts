import { createHash } from "node:crypto";
import type { KvStore } from "@signalbox/store/types";
import type { Role } from "../types.ts";
import {
  mayAnswer,
  readAnswer,
  type UserQuestion,
  type UserQuestionOutcome,
  userQuestionSchema,
} from "./user-question.ts";

/** A question that is not stored yet. */
interface NewUserQuestion
  extends Pick<UserQuestion, "sessionKey" | "speaker" | "role" | "question" | "options"> {
  /**
   * Identifies the call that asks the question. The same call always gets the same question, with its original
   * deadline.
   */
  readonly call: string;
  /** Milliseconds until the question expires. */
  readonly ttlMs: number;
}

/** A person's answer to a question. */
interface UserAnswer {
  readonly words: string;
  readonly speaker: string;
  readonly role: Role;
  /** Id of the message that contains these words. If the same message is delivered twice, it counts as one answer. */
  readonly messageId: string;
}

/**
 * - `unknown`: there is no such question.
 * - `closed`: the question already has another outcome.
 * - `wrong_person`: the question is for another person, or the person's role was lowered.
 */
type AnswerResult =
  | { readonly ok: true; readonly question: UserQuestion }
  | { readonly ok: false; readonly why: "unknown" | "closed" | "wrong_person" };

/**
 * Questions from agents to people. They are stored, so they survive restarts, and deleted one day after they expire.
 */
export interface UserQuestions {
  /** Loads the questions from earlier processes. Await this before accepting messages. */
  load(): Promise<void>;
  /** Stores a question, or returns the existing question of the same call. */
  open(question: NewUserQuestion): Promise<UserQuestion>;
  /** Waits for the outcome. Resolves with undefined if the signal is aborted first. */
  wait(id: string, signal: AbortSignal): Promise<UserQuestionOutcome | undefined>;
  answer(id: string, answer: UserAnswer): Promise<AnswerResult>;
  /** Closes an open question without an answer. */
  close(id: string, kind: "passed_over" | "stopped"): Promise<void>;
  /**
   * Returns the open question that this person can answer in this session.
   *
   * @param isResuming true if a run from an earlier process is continuing in the session. Only then is a question
   * included that no call in this process is waiting for.
   */
  getOpen(sessionKey: string, speaker: string, isResuming: boolean): UserQuestion | undefined;
  /** Returns the question that a message answered. After a crash, the same message may be processed again. */
  getAnsweredBy(messageId: string): UserQuestion | undefined;
  /** Deletes all questions of a session. */
  forget(sessionKey: string): Promise<void>;
}

export interface UserQuestionsOptions {
  readonly kv: KvStore;
  /** Returns the time in milliseconds since the epoch. */
  readonly now: () => number;
}

const NAMESPACE = "user_questions";
/**
 * Time for which a question is kept after it has expired, in milliseconds. A late message can still find its outcome.
 */
const KEPT_MS = 24 * 60 * 60 * 1000;
/** Interval at which a waiting call polls the store for an answer that another process received, in milliseconds. */
const POLL_MS = 2_000;
/** Letters and digits that are not easily confused with one another. */
const ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/** Creates the questions of all agents on top of a key-value store. */
export function createUserQuestions(options: UserQuestionsOptions): UserQuestions {
  return new StoredUserQuestions(options);
}

class StoredUserQuestions implements UserQuestions {
  readonly #options: UserQuestionsOptions;
  /** A cache of the store. */
  readonly #questions = new Map<string, UserQuestion>();
  /** Callbacks that wake the waiting calls in this process, by question. */
  readonly #waiting = new Map<string, Set<() => void>>();
  /** Questions that a call in this process is waiting for, including while it polls the store. */
  readonly #awaited = new Set<string>();
  /** The latest write of an outcome. Outcomes are written one at a time. */
  #closing: Promise<unknown> = Promise.resolve();

  constructor(options: UserQuestionsOptions) {
    this.#options = options;
  }

  async load(): Promise<void> {
    const { kv, now } = this.#options;
    for (const { key, value } of await kv.list(NAMESPACE)) {
      const { data } = userQuestionSchema.safeParse(value);
      if (data === undefined || data.expiresAt + KEPT_MS <= now()) await kv.delete(NAMESPACE, key);
      else if (this.#questions.get(key)?.outcome === undefined) this.#questions.set(key, data);
    }
    await this.#forgetOld();
  }

  async #forgetOld(): Promise<void> {
    const { kv, now } = this.#options;
    for (const { id, expiresAt } of this.#questions.values()) {
      if (expiresAt + KEPT_MS > now()) continue;
      await kv.delete(NAMESPACE, id);
      this.#questions.delete(id);
    }
  }

  async open({ call, ttlMs, ...rest }: NewUserQuestion): Promise<UserQuestion> {
    await this.#forgetOld();
    const id = toId(call);
    const existing = await this.#read(id);
    if (existing !== undefined) return existing;
    const { sessionKey, speaker, role, question, options } = rest;
    const expiresAt = this.#options.now() + ttlMs;
    const opened = { id, sessionKey, speaker, role, question, options, expiresAt };
    await this.#write(opened);
    return opened;
  }

  async wait(id: string, signal: AbortSignal): Promise<UserQuestionOutcome | undefined> {
    const { now } = this.#options;
    this.#awaited.add(id);
    try {
      for (;;) {
        const outcome = await this.#currentOutcome(id);
        if (outcome !== undefined || signal.aborted) return outcome;
        const { expiresAt = now() } = this.#questions.get(id) ?? {};
        await this.#pause(id, Math.min(POLL_MS, Math.max(0, expiresAt - now())), signal);
      }
    } finally {
      this.#awaited.delete(id);
    }
  }

  async answer(id: string, { words, speaker, role, messageId }: UserAnswer): Promise<AnswerResult> {
    const asked = await this.#read(id);
    if (asked === undefined) return { ok: false, why: "unknown" };
    if (!mayAnswer(asked, speaker, role)) return { ok: false, why: "wrong_person" };
    if ((await this.#currentOutcome(id)) === undefined)
      await this.#close(id, { kind: "answered", text: readAnswer(words, asked.options), messageId });
    const question = (await this.#read(id)) ?? asked;
    const isAccepted = question.outcome?.kind === "answered" && question.outcome.messageId === messageId;
    return isAccepted ? { ok: true, question } : { ok: false, why: "closed" };
  }

  async close(id: string, kind: "passed_over" | "stopped"): Promise<void> {
    await this.#close(id, { kind });
  }

  getOpen(sessionKey: string, speaker: string, isResuming: boolean): UserQuestion | undefined {
    return [...this.#questions.values()].find(
      (question) =>
        question.outcome === undefined &&
        (isResuming || this.#awaited.has(question.id)) &&
        question.sessionKey === sessionKey &&
        question.speaker === speaker &&
        question.expiresAt > this.#options.now(),
    );
  }

  getAnsweredBy(messageId: string): UserQuestion | undefined {
    return [...this.#questions.values()].find(
      ({ outcome }) => outcome?.kind === "answered" && outcome.messageId === messageId,
    );
  }

  async forget(sessionKey: string): Promise<void> {
    const { kv } = this.#options;
    for (const { key, value } of await kv.list(NAMESPACE)) {
      if (userQuestionSchema.safeParse(value).data?.sessionKey !== sessionKey) continue;
      await kv.delete(NAMESPACE, key);
      this.#questions.delete(key);
    }
  }

  async #write(question: UserQuestion): Promise<void> {
    await this.#options.kv.set(NAMESPACE, question.id, question);
    this.#questions.set(question.id, question);
  }

  /** Also reads the store, because another process may have created or closed the question. */
  async #read(id: string): Promise<UserQuestion | undefined> {
    const cached = this.#questions.get(id);
    if (cached?.outcome !== undefined) return cached;
    const stored = userQuestionSchema.safeParse(await this.#options.kv.get(NAMESPACE, id)).data;
    // This process may have closed the question during the read.
    const latest = this.#questions.get(id);
    const current = latest?.outcome === undefined ? (stored ?? cached) : latest;
    if (current !== undefined) this.#questions.set(id, current);
    return current;
  }

  /** Closes an open question. If two calls run concurrently, the first one wins. */
  #close(id: string, outcome: UserQuestionOutcome): Promise<UserQuestion | undefined> {
    const closed = this.#closing.then(() => this.#closeNow(id, outcome));
    this.#closing = closed.catch(() => {});
    return closed;
  }

  async #closeNow(id: string, outcome: UserQuestionOutcome): Promise<UserQuestion | undefined> {
    const open = await this.#read(id);
    if (open === undefined || open.outcome !== undefined) return open;
    const closed = { ...open, outcome };
    await this.#write(closed);
    for (const wake of this.#waiting.get(id) ?? []) wake();
    return closed;
  }

  async #currentOutcome(id: string): Promise<UserQuestionOutcome | undefined> {
    const question = await this.#read(id);
    if (question === undefined) return { kind: "expired" };
    if (question.outcome === undefined && question.expiresAt <= this.#options.now())
      return (await this.#close(id, { kind: "expired" }))?.outcome;
    return question.outcome;
  }

  /** Resolves when the question is closed in this process, after `ms`, or when the signal is aborted. */
  #pause(id: string, ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    const timer = setTimeout(wake, ms);
    const callbacks = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, callbacks.add(wake));
    signal.addEventListener("abort", wake, { once: true });
    return promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      callbacks.delete(wake);
      if (callbacks.size === 0) this.#waiting.delete(id);
    });
  }
}

function toId(call: string): string {
  const bytes = createHash("sha256").update(call).digest().subarray(0, 8);
  return [...bytes].map((byte) => ALPHABET.charAt(byte % ALPHABET.length)).join("");
}
