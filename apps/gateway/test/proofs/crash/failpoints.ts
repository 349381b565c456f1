import { setTimeout as delay } from "node:timers/promises";
import type { Channel } from "@signalbox/channel";
import { type FaultPoint, StoreError } from "@signalbox/store";
import type { Toolbox } from "../../../src/agent/toolbox.ts";
import type { Account } from "../../../src/configure/accounts.ts";
import type { Instrument } from "../../../src/instrument.ts";
import type { GatewayStore } from "../../../src/store.ts";

/** What happens between two of these points is one effect: a commit, a call of a tool, a request to a platform. */
const STAGES = [
  /** A channel hands an event over; after it, all is committed and the platform is about to be told. */
  "emit",
  /** A message becomes the gateway's responsibility. */
  "accept",
  /** A message that an earlier process accepted gets its place. */
  "route",
  /** A message that no run answers gets its end. */
  "settle",
  /** A message that waits is replaced by its later version, or was deleted by its sender. */
  "revise",
  "withdraw",
  /** A conversation begins anew, or a summary takes the place of its older part. */
  "reset",
  "compact",
  "begin",
  /** What the model said, with the calls it asked for, or messages that steer. */
  "step",
  /** The note that a call with outside effects begins. */
  "toolStart",
  /** The body of a tool. */
  "tool",
  "toolResult",
  "finish",
  /** An interrupted run is taken over. */
  "adopt",
  /** A message of a tool or of a rule is put into the outbox. */
  "enqueue",
  "claim",
  /** The request to the platform. */
  "send",
  /** The platform's answer is noted. */
  "receipt",
  /** So is that a reply has to wait, may have been sent, or is given up. */
  "retry",
  "uncertain",
  "dead",
  /** That a run may have a draft, or which message it is, is noted. */
  "draftNote",
  /** A draft is sent or changed. */
  "draftShow",
  /** A draft becomes a reply, or is taken back. */
  "draftEnd",
  /** The lease is prolonged. */
  "renew",
] as const;

type Stage = (typeof STAGES)[number];
type DatabasePoint = `db.${FaultPoint}`;

/** A place in the way of a message where a test makes the gateway die, fail or wait. */
export type Failpoint = `${Stage}.before` | `${Stage}.after` | DatabasePoint;

const DATABASE_POINTS: readonly DatabasePoint[] = ["db.write", "db.commit", "db.sync"];

/** Every failpoint there is. */
export const FAILPOINTS: readonly Failpoint[] = [
  ...STAGES.flatMap((stage): Failpoint[] => [`${stage}.before`, `${stage}.after`]),
  ...DATABASE_POINTS,
];

/** Told of each point that is passed; what it throws happens there. Points of the database do not wait for it. */
export type Failpoints = (point: Failpoint) => Promise<void> | void;

/** What can happen to a process at a failpoint. */
export interface FailpointEffects {
  /** Ends this process as a loss of power would. */
  readonly kill: () => void;
}

interface Plan {
  readonly point: Failpoint;
  readonly count: number;
  readonly action: "kill" | "throw" | "break" | "delay";
  readonly ms: number;
}

const PLAN = /^([A-Za-z.]+):([1-9]\d*):(?:(kill|throw|break)|(delay):(\d+))$/;

/**
 * Reads `point:count:kill`, `point:count:throw`, `point:count:break` or `point:count:delay:<ms>`, several of them with
 * commas between: what happens when the point is passed for the `count`-th time.
 * @throws Error naming what cannot be read
 */
export function failpointsOf(
  text: string,
  effects: FailpointEffects = { kill: () => void process.kill(process.pid, "SIGKILL") },
): Failpoints {
  const plans = text.split(",").map(planOf);
  const passed = new Map<Failpoint, number>();
  return (point) => {
    const count = (passed.get(point) ?? 0) + 1;
    passed.set(point, count);
    const plan = plans.find((one) => one.point === point && one.count === count);
    if (plan === undefined) return;
    if (plan.action === "delay") return delay(plan.ms);
    if (plan.action === "throw") throw failureAt(point);
    if (plan.action === "break") throw brokenAt(point);
    effects.kill();
  };
}

function planOf(text: string): Plan {
  const [, name, count, ending, waiting, ms] = PLAN.exec(text.trim()) ?? [];
  const point = FAILPOINTS.find((one) => one === name);
  const isDatabase = point?.startsWith("db.") === true;
  if (point === undefined || (waiting !== undefined && isDatabase) || (ending === "break" && !isDatabase))
    throw new Error(`failpoint: ${text} is not point:count:kill|throw|break|delay:<ms>`);
  const action = ending === "kill" || ending === "throw" || ending === "break" ? ending : "delay";
  return { point, count: Number(count), action, ms: Number(ms ?? 0) };
}

/** As the system would say it: a full disk for writes, a broken one for syncs. */
function failureAt(point: Failpoint): Error {
  const message = `failpoint ${point}`;
  if (point === "db.sync") return Object.assign(new Error(message), { code: "EIO" });
  if (point === "db.write" || point === "db.commit")
    return Object.assign(new Error(message), { code: "SQLITE_FULL" });
  return new StoreError("disk_full", message);
}

/** The disk fails for once: whoever tries again may well be lucky. */
function brokenAt(point: Failpoint): Error {
  return Object.assign(new Error(`failpoint ${point}`), { code: "SQLITE_IOERR_WRITE" });
}

type Around = <A extends readonly unknown[], R>(
  stage: Stage,
  work: (...args: A) => Promise<R>,
) => (...args: A) => Promise<R>;

function aroundWith(hit: Failpoints): Around {
  return (stage, work) =>
    async (...args) => {
      await hit(`${stage}.before`);
      const result = await work(...args);
      await hit(`${stage}.after`);
      return result;
    };
}

/** Puts failpoints into a gateway. */
export function failpointInstrument(hit: Failpoints): Instrument {
  return {
    store: (store) => storeWithFailpoints(store, hit),
    storeFaults: (point) => void hit(`db.${point}`),
    account: (account) => accountWithFailpoints(account, hit),
    toolbox: (toolbox) => toolboxWithFailpoints(toolbox, hit),
    emit: (emit) => aroundWith(hit)("emit", emit),
  };
}

/** The store with failpoints around its commits. */
function storeWithFailpoints(store: GatewayStore, hit: Failpoints): GatewayStore {
  const around = aroundWith(hit);
  const { inbox, runs, sessions, outbox, leases, kv } = store;
  const noteDraft = around("draftNote", kv.set);
  return {
    ...store,
    inbox: {
      ...inbox,
      accept: around("accept", inbox.accept),
      acceptAhead: around("accept", inbox.acceptAhead),
      route: around("route", inbox.route),
      settle: around("settle", inbox.settle),
      revise: around("revise", inbox.revise),
      withdraw: around("withdraw", inbox.withdraw),
    },
    sessions: {
      ...sessions,
      reset: around("reset", sessions.reset),
      compact: around("compact", sessions.compact),
    },
    runs: {
      ...runs,
      begin: around("begin", runs.begin),
      step: around("step", runs.step),
      toolStarted: around("toolStart", runs.toolStarted),
      toolResults: around("toolResult", runs.toolResults),
      finish: around("finish", runs.finish),
      adopt: around("adopt", runs.adopt),
    },
    outbox: {
      ...outbox,
      enqueue: around("enqueue", outbox.enqueue),
      claimDue: around("claim", outbox.claimDue),
      markPart: around("receipt", outbox.markPart),
      markSent: around("receipt", outbox.markSent),
      retryAt: around("retry", outbox.retryAt),
      uncertain: around("uncertain", outbox.uncertain),
      dead: around("dead", outbox.dead),
    },
    kv: {
      ...kv,
      set: (namespace, ...rest) => (namespace === "draft" ? noteDraft : kv.set)(namespace, ...rest),
    },
    leases: { ...leases, renew: around("renew", leases.renew) },
  };
}

/** An account with failpoints around each request that sends a reply or changes a draft. */
function accountWithFailpoints(account: Account, hit: Failpoints): Account {
  const { running } = account;
  const around = aroundWith(hit);
  const send: Channel["send"] = around("send", (to, message, options) => running.send(to, message, options));
  const openDraft: Channel["openDraft"] =
    running.openDraft &&
    (async (to, options) => {
      const draft = await running.openDraft?.(to, options);
      if (draft === undefined) throw new TypeError("a channel lost its drafts");
      return {
        get messageId() {
          return draft.messageId;
        },
        update: around("draftShow", (snapshot) => draft.update(snapshot)),
        finalize: around("draftEnd", (message, how) => draft.finalize(message, how)),
        abort: around("draftEnd", () => draft.abort()),
      };
    });
  return { ...account, running: { ...running, send, ...(openDraft ? { openDraft } : {}) } };
}

/** A toolbox with failpoints around the body of each tool. */
function toolboxWithFailpoints(toolbox: Toolbox, hit: Failpoints): Toolbox {
  const around = aroundWith(hit);
  return {
    ...toolbox,
    async forRun(run) {
      const made = await toolbox.forRun(run);
      const tools = made.tools.map((tool) => ({ ...tool, execute: around("tool", tool.execute) }));
      return { ...made, tools };
    },
  };
}
