import { createHash } from "node:crypto";
import { z } from "zod";
import type { KeyValues } from "../persistence/key-values.ts";
import type { Role } from "../types.ts";
import { type Inquiry, type InquiryEnd, keptInquiry, mayAnswer, readAnswer } from "./inquiry.ts";

/** What a new inquiry is made of. */
export interface InquiryRequest
  extends Pick<Inquiry, "sessionKey" | "speaker" | "role" | "question" | "options"> {
  /** The call that asks: asked again, it is the same inquiry, with the time that it had. */
  readonly call: string;
  readonly ttlMs: number;
}

/** A person's answer to an inquiry. */
export interface InquiryAnswer {
  readonly words: string;
  readonly speaker: string;
  readonly role: Role;
  /** Of the message with those words: given again, it is the same answer. */
  readonly messageId: string;
}

export type Answered =
  | { readonly ok: true; readonly inquiry: Inquiry }
  | { readonly ok: false; readonly why: "unknown" | "over" | "somebody-else" };

/** Questions of agents to people. Each is kept until a day after its time, whatever process asked it. */
export interface Inquiries {
  /** Takes up what earlier processes have asked. To be awaited before messages are let in. */
  load(): Promise<void>;
  open(request: InquiryRequest): Promise<Inquiry>;
  /** Resolves with its end; undefined where the signal ends first. */
  wait(id: string, signal: AbortSignal): Promise<InquiryEnd | undefined>;
  answer(id: string, answer: InquiryAnswer): Promise<Answered>;
  /** An answer is no longer needed. */
  close(id: string, kind: "passed-over" | "stopped"): Promise<void>;
  /**
   * The inquiry that waits for an answer of this person in this session. One without a waiting call in this process
   * counts only if a run of an earlier process continues there and has yet to ask again.
   */
  asked(sessionKey: string, speaker: string, goesOn: boolean): Inquiry | undefined;
  /** The one that a message has answered already: it may come again after a crash. */
  answeredBy(messageId: string): Inquiry | undefined;
  /** Removes what was asked and answered in a session that is removed itself. */
  forget(sessionKey: string): Promise<void>;
}

export interface InquiriesOptions {
  readonly kv: KeyValues;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const NAMESPACE = "inquiries";
/** An inquiry is kept for so long after its time, so that a late message finds how it ended. */
const KEPT_MS = 24 * 60 * 60 * 1000;
/** How often a waiting call checks whether the time is over, or another process has an answer, in milliseconds. */
const LOOK_MS = 2_000;
/** Without letters and digits that are easily mistaken for one another. */
const ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

export function createInquiries(options: InquiriesOptions): Inquiries {
  return new KeptInquiries(options);
}

class KeptInquiries implements Inquiries {
  readonly #options: InquiriesOptions;
  /** As this process knows them; the store has the same. */
  readonly #inquiries = new Map<string, Inquiry>();
  /** Who waits in this process. */
  readonly #waiting = new Map<string, Set<() => void>>();
  /** Those somebody waits for in this process, also while they look at the store. */
  readonly #awaited = new Set<string>();
  /** The last end that is being kept. */
  #ending: Promise<unknown> = Promise.resolve();

  constructor(options: InquiriesOptions) {
    this.#options = options;
  }

  async load(): Promise<void> {
    const { kv, now } = this.#options;
    for (const { key, value } of await kv.list(NAMESPACE)) {
      const { data } = keptInquiry.safeParse(value);
      if (data === undefined || data.expiresAt + KEPT_MS <= now()) await kv.delete(NAMESPACE, key);
      else if (this.#inquiries.get(key)?.end === undefined) this.#inquiries.set(key, data);
    }
    await this.#forgetOld();
  }

  /** So that a process that runs for months does not keep all that it has ever asked. */
  async #forgetOld(): Promise<void> {
    const { kv, now } = this.#options;
    for (const { id, expiresAt } of this.#inquiries.values()) {
      if (expiresAt + KEPT_MS > now()) continue;
      await kv.delete(NAMESPACE, id);
      this.#inquiries.delete(id);
    }
  }

  async open({
    call,
    ttlMs,
    sessionKey,
    speaker,
    role,
    question,
    options,
  }: InquiryRequest): Promise<Inquiry> {
    await this.#forgetOld();
    const id = idOf(call);
    const before = await this.#read(id);
    if (before !== undefined) return before;
    const inquiry = {
      id,
      sessionKey,
      speaker,
      role,
      question,
      options,
      expiresAt: this.#options.now() + ttlMs,
    };
    await this.#keep(inquiry);
    return inquiry;
  }

  async wait(id: string, signal: AbortSignal): Promise<InquiryEnd | undefined> {
    const { now } = this.#options;
    this.#awaited.add(id);
    try {
      for (;;) {
        const ended = await this.#endNow(id);
        if (ended !== undefined || signal.aborted) return ended;
        const { expiresAt = now() } = this.#inquiries.get(id) ?? {};
        await this.#waitToLook(id, Math.min(LOOK_MS, Math.max(0, expiresAt - now())), signal);
      }
    } finally {
      this.#awaited.delete(id);
    }
  }

  async answer(id: string, { words, speaker, role, messageId }: InquiryAnswer): Promise<Answered> {
    const before = await this.#read(id);
    if (before === undefined) return { ok: false, why: "unknown" };
    if (!mayAnswer(before, speaker, role)) return { ok: false, why: "somebody-else" };
    if ((await this.#endNow(id)) === undefined)
      await this.#end(id, { kind: "answered", text: readAnswer(words, before.options), messageId });
    const inquiry = (await this.#read(id)) ?? before;
    const isTaken = inquiry.end?.kind === "answered" && inquiry.end.messageId === messageId;
    return isTaken ? { ok: true, inquiry } : { ok: false, why: "over" };
  }

  async close(id: string, kind: "passed-over" | "stopped"): Promise<void> {
    await this.#end(id, { kind });
  }

  asked(sessionKey: string, speaker: string, goesOn: boolean): Inquiry | undefined {
    return [...this.#inquiries.values()].find(
      (inquiry) =>
        inquiry.end === undefined &&
        (goesOn || this.#awaited.has(inquiry.id)) &&
        inquiry.sessionKey === sessionKey &&
        inquiry.speaker === speaker &&
        inquiry.expiresAt > this.#options.now(),
    );
  }

  answeredBy(messageId: string): Inquiry | undefined {
    return [...this.#inquiries.values()].find(
      ({ end: ended }) => ended?.kind === "answered" && ended.messageId === messageId,
    );
  }

  async forget(sessionKey: string): Promise<void> {
    const { kv } = this.#options;
    for (const { key, value } of await kv.list(NAMESPACE)) {
      if (keptInquiry.safeParse(value).data?.sessionKey !== sessionKey) continue;
      await kv.delete(NAMESPACE, key);
      this.#inquiries.delete(key);
    }
  }

  async #keep(inquiry: Inquiry): Promise<void> {
    await this.#options.kv.set(NAMESPACE, inquiry.id, z.json().parse(inquiry));
    this.#inquiries.set(inquiry.id, inquiry);
  }

  /** What another process has asked or heard is in the store alone. */
  async #read(id: string): Promise<Inquiry | undefined> {
    const own = this.#inquiries.get(id);
    if (own?.end !== undefined) return own;
    const kept = keptInquiry.safeParse(await this.#options.kv.get(NAMESPACE, id)).data;
    // This process may have ended it while the store was asked.
    const current = this.#inquiries.get(id)?.end === undefined ? (kept ?? own) : this.#inquiries.get(id);
    if (current !== undefined) this.#inquiries.set(id, current);
    return current;
  }

  /** Ends one that is open, once: what comes first holds, and of two at once the second finds it ended. */
  #end(id: string, how: InquiryEnd): Promise<Inquiry | undefined> {
    const ended = this.#ending.then(() => this.#endOpen(id, how));
    this.#ending = ended.catch(() => {});
    return ended;
  }

  async #endOpen(id: string, how: InquiryEnd): Promise<Inquiry | undefined> {
    const before = await this.#read(id);
    if (before === undefined || before.end !== undefined) return before;
    const ended = { ...before, end: how };
    await this.#keep(ended);
    for (const look of this.#waiting.get(id) ?? []) look();
    return ended;
  }

  async #endNow(id: string): Promise<InquiryEnd | undefined> {
    const inquiry = await this.#read(id);
    if (inquiry === undefined) return { kind: "expired" };
    if (inquiry.end === undefined && inquiry.expiresAt <= this.#options.now())
      return (await this.#end(id, { kind: "expired" }))?.end;
    return inquiry.end;
  }

  /** Resolves when the question may have ended, or after so many milliseconds. */
  #waitToLook(id: string, ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    const timer = setTimeout(wake, ms);
    const looks = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, looks.add(wake));
    signal.addEventListener("abort", wake, { once: true });
    return promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      looks.delete(wake);
      if (looks.size === 0) this.#waiting.delete(id);
    });
  }
}

function idOf(call: string): string {
  const bytes = createHash("sha256").update(call).digest().subarray(0, 8);
  return [...bytes].map((byte) => ALPHABET.charAt(byte % ALPHABET.length)).join("");
}
