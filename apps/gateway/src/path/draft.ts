import { hash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Draft, isChannelError, type MessageEvent } from "@signalbox/channel";
import type { RepliesConfig } from "@signalbox/config";
import type { JsonValue, RunId } from "@signalbox/store";
import type { Account } from "../channels.ts";
import { messageOf } from "../errors.ts";
import type { Hooks } from "../hooks.ts";
import type { Logger } from "../log.ts";
import { createPace } from "./pace.ts";
import type { DraftRef, GatewayStore } from "./stored.ts";

/** In milliseconds. */
export interface DraftTiming {
  /** From the first words of a run to its draft: an answer that is done by then has none. */
  readonly afterMs: number;
  /** Between two changes of a draft. */
  readonly everyMs: number;
  /** How long the end waits for a change that is under way before it gives that up. Default 20,000. */
  readonly endMs?: number;
}

export interface DraftsOptions {
  readonly store: Pick<GatewayStore, "kv" | "outbox">;
  readonly account: (channel: string, account: string) => Account | undefined;
  /** Code at `before_reply` may still change or keep back what would be shown, so with any of it nothing is. */
  readonly hooks: Pick<Hooks, "has">;
  readonly stream: RepliesConfig["stream"];
  readonly timing: DraftTiming | undefined;
  readonly logger: Logger;
  readonly now: () => number;
}

/** A run whose answer may be shown while it is written. */
interface WatchedRun {
  readonly runId: RunId;
  /** The message being answered. */
  readonly event: MessageEvent;
  /** Fires when the run is to stop; from then on nothing more is shown. */
  readonly signal: AbortSignal;
  /** What of the answer may be seen now; empty for nothing. */
  readonly visible: () => string;
  /** The same where it is all that people get: nothing is sent along that it need not name. */
  readonly standing: () => string;
}

/** A run's draft when the run is over. */
interface EndedDraft {
  readonly ref: DraftRef;
  /** What there was to see of the answer, for where nothing follows. */
  readonly text: string;
}

/** The messages at platforms that grow while a run writes. What they show is never needed for correctness. */
export interface Drafts {
  /** Finds what an earlier process noted about a run that goes on. */
  recall(runId: RunId): Promise<void>;
  /** What to call whenever the run has written something; undefined where nothing may be shown. */
  watch(run: WatchedRun): (() => void) | undefined;
  /** Whether people may have seen something of what this run writes. */
  shows(runId: RunId): boolean;
  /** Ends the growing: nothing touches the message any more. Undefined where there is no draft. */
  end(runId: RunId): Promise<EndedDraft | undefined>;
  /** The outbox has what becomes of the draft. */
  settled(runId: RunId): void;
}

interface State {
  readonly key: string;
  /** Until then the key leads to the same message, in milliseconds since the epoch. */
  until: number;
  run: WatchedRun | undefined;
  draft: Draft | undefined;
  messageId: string | undefined;
  /** Whether there may be a message whose id is not known. */
  doubtful: boolean;
  noted: boolean;
  shown: string;
  timer: NodeJS.Timeout | undefined;
  working: Promise<void> | undefined;
  /** Something was written while a change was under way. */
  more: boolean;
  failures: number;
  over: boolean;
  /** Fires when the end does not wait any more for the change that is under way. */
  givenUp: AbortController;
}

const NAMESPACE = "draft";
/** Runs do not wait longer for their restart; a draft of one that does stays as it is. */
const NOTE_MS = 7 * 24 * 60 * 60_000;
const TIMING: DraftTiming = { afterMs: 1_000, everyMs: 700 };
/** Changes that fail in a row before a draft is left alone until its end. */
const MOST_FAILURES = 3;
/** Longer than channels let one request take. */
const LONGEST_END_MS = 20_000;
/** How long a change that was given up may take to say how far it came. */
const GIVEN_UP_MS = 1_000;
/** How much of a platform's rate drafts may use: replies come first. */
const SHARE = 0.5;
const LASTING: ReadonlySet<string> = new Set(["permission", "not_found", "unsupported", "invalid", "auth"]);

export function createDrafts(options: DraftsOptions): Drafts {
  const { store, logger, now, timing = TIMING } = options;
  const states = new Map<RunId, State>();
  const pace = createPace(now);

  const fresh = (runId: RunId): State => ({
    key: keyOf(runId),
    until: 0,
    run: undefined,
    draft: undefined,
    messageId: undefined,
    doubtful: false,
    noted: false,
    shown: "",
    timer: undefined,
    working: undefined,
    more: false,
    failures: 0,
    over: false,
    givenUp: new AbortController(),
  });

  const accountOf = ({ channel, account }: MessageEvent) => options.account(channel, account);

  const note = (runId: RunId, { until, messageId }: State): Promise<void> =>
    store.kv.set(NAMESPACE, runId, { until, ...(messageId === undefined ? {} : { messageId }) }, NOTE_MS);

  const arm = (state: State, ms: number): void => {
    if (state.over || state.timer !== undefined || state.working !== undefined) return;
    state.timer = setTimeout(() => {
      state.timer = undefined;
      grow(state);
    }, ms);
    state.timer.unref();
  };

  const grow = (state: State): void => {
    const { run } = state;
    if (run === undefined || state.over || run.signal.aborted) return;
    const account = accountOf(run.event);
    const text = run.visible();
    if (account === undefined || text === "" || text === state.shown) return;
    const wait = pace.take(rulesOf(account, run.event));
    if (wait > 0) {
      arm(state, wait);
      return;
    }
    state.more = false;
    state.working = change(state, run, account, text).finally(() => {
      state.working = undefined;
      if (state.more) arm(state, timing.everyMs);
    });
  };

  const isBehind = async (event: MessageEvent): Promise<boolean> => {
    const rows = await store.outbox.list({ states: ["pending", "sending"] });
    return rows.some((row) => placeOf(row) === placeOf(event));
  };

  const change = async (state: State, run: WatchedRun, account: Account, text: string): Promise<void> => {
    const { event, runId } = run;
    // What a platform may take for one change is the channel's to say.
    const { signal } = state.givenUp;
    try {
      // Known before it is there: whoever goes on with the run after a crash finds the message by its key.
      if (!state.noted) {
        // What waits for its way out to the same place was said before.
        if (await isBehind(event)) {
          state.more = true;
          return;
        }
        state.until = now() + (account.definition.capabilities.delivery.idempotencyKey?.windowMs ?? 0);
        await note(runId, state);
        state.noted = true;
        if (state.over) return;
      }
      state.draft ??= await account.running.openDraft?.(account.definition.codec.decode(event.address), {
        idempotencyKey: state.key,
        signal,
        ...(account.definition.capabilities.threads === "none" || event.messageId === ""
          ? {}
          : { replyTo: event.messageId }),
        ...(state.messageId === undefined ? {} : { messageId: state.messageId }),
      });
      if (signal.aborted) return;
      await state.draft?.update(text);
      state.shown = text;
      state.failures = 0;
      if (state.messageId === undefined && state.draft?.messageId !== undefined) {
        state.messageId = state.draft.messageId;
        state.doubtful = false;
        await note(runId, state);
      }
    } catch (error) {
      failed(state, run, error);
    }
  };

  const failed = (state: State, { event, runId }: WatchedRun, error: unknown): void => {
    logger.warn({ run: runId, err: messageOf(error) }, "a draft could not be shown");
    const code = isChannelError(error) ? error.code : "unknown_outcome";
    if (code === "unknown_outcome" && state.messageId === undefined && state.noted) {
      // Where the platform would take a second try for another message, there is none.
      if (now() >= state.until) state.over = true;
      else state.doubtful = true;
    }
    if (code === "rate_limited" && isChannelError(error)) {
      pace.pause(placeOf(event), error.retryAfterMs ?? 1_000);
      state.more = true;
      return;
    }
    state.failures++;
    state.more = true;
    // The reply finishes the draft if it can, and is sent by itself where it cannot.
    if (LASTING.has(code) || state.failures >= MOST_FAILURES) state.over = true;
  };

  return {
    async recall(runId) {
      const known = states.get(runId);
      if (known !== undefined) {
        await known.working;
        known.over = false;
        if (known.givenUp.signal.aborted) {
          known.givenUp = new AbortController();
          known.draft = undefined;
        }
        return;
      }
      const found = noteIn(await store.kv.get(NAMESPACE, runId));
      if (found === undefined) return;
      const { until, messageId } = found;
      if (messageId === undefined && now() >= until) return;
      states.set(runId, {
        ...fresh(runId),
        until,
        messageId,
        doubtful: messageId === undefined,
        noted: true,
      });
    },

    watch(run) {
      const { event, runId } = run;
      const { stream } = options;
      const account = accountOf(event);
      if (account?.running.openDraft === undefined || stream === "off") return undefined;
      if (options.hooks.has("before_reply")) return undefined;
      if (stream === "direct" && event.conversation.kind !== "direct") return undefined;
      const state = states.get(runId) ?? fresh(runId);
      state.run = run;
      states.set(runId, state);
      return () => {
        state.more = true;
        arm(state, state.shown === "" ? timing.afterMs : timing.everyMs);
      };
    },

    shows(runId) {
      const state = states.get(runId);
      return state !== undefined && (state.noted || state.working !== undefined);
    },

    async end(runId) {
      const state = states.get(runId);
      if (state === undefined) return undefined;
      state.over = true;
      clearTimeout(state.timer);
      state.timer = undefined;
      if (state.working !== undefined) {
        await endOrLate(state.working, timing.endMs ?? LONGEST_END_MS);
        // A change that came after the reply would hide the reply's end.
        state.givenUp.abort(new Error("the draft is over"));
        if (state.working !== undefined) await endOrLate(state.working, GIVEN_UP_MS);
      }
      const { key, until, messageId, doubtful, run } = state;
      if (messageId === undefined && !doubtful) return undefined;
      return {
        ref: { key, until, ...(messageId === undefined ? {} : { messageId }) },
        text: run?.standing() ?? "",
      };
    },

    settled(runId) {
      const state = states.get(runId);
      if (state === undefined) return;
      states.delete(runId);
      if (!state.noted) return;
      store.kv.delete(NAMESPACE, runId).catch((error: unknown) => {
        // It goes by itself in time, and nobody asks for it.
        logger.debug({ run: runId, err: messageOf(error) }, "the note of a draft was not removed");
      });
    },
  };
}

/** Resolves with `work`, or after `ms`. */
async function endOrLate(work: Promise<void>, ms: number): Promise<void> {
  const limit = new AbortController();
  const late = delay(ms, undefined, { ref: false, signal: limit.signal }).catch(() => {});
  await Promise.race([work, late]);
  limit.abort();
}

function rulesOf({ channel, account, definition }: Account, event: MessageEvent) {
  const own = { key: placeOf(event), rule: { perSecond: 10, burst: 1 } };
  const declared = definition.capabilities.rate.map(({ scope, perSecond, burst }) => ({
    key: scope === "account" ? `account ${channel}/${account}` : `conversation ${placeOf(event)}`,
    rule: { perSecond: perSecond * SHARE, burst: Math.max(1, burst * SHARE) },
  }));
  return [own, ...declared];
}

function placeOf({
  channel,
  account,
  address,
}: Pick<MessageEvent, "channel" | "account" | "address">): string {
  return `${channel}/${account}/${address}`;
}

/** The same for every process that goes on with the run. 90 bits. */
function keyOf(runId: RunId): string {
  return `d-${hash("sha256", `draft ${runId}`, "base64url").slice(0, 15)}`;
}

function noteIn(value: JsonValue | undefined): { until: number; messageId: string | undefined } | undefined {
  if (typeof value !== "object" || value === null || !("until" in value)) return undefined;
  const { until, messageId } = value;
  if (typeof until !== "number") return undefined;
  return { until, messageId: typeof messageId === "string" ? messageId : undefined };
}
