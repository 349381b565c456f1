import { randomBytes } from "node:crypto";
import type {
  Approval,
  ApprovalChange,
  ApprovalRequest,
  ApprovalState,
  ApprovalStore,
} from "./approval-store.ts";
import { hashOf } from "./hash.ts";
import type { ApprovalSubject, RunFacts } from "./types.ts";

export type ResolveOutcome =
  | { readonly ok: true; readonly approval: Approval }
  | { readonly ok: false; readonly code: "unknown" | "decided" | "expired"; readonly message: string };

/** Questions to people about single calls. An answer is bound to exactly what was shown and is used once. */
export interface Approvals {
  /** Asks a question; one that is still open is not asked twice. */
  request(request: ApprovalRequest): Promise<Approval>;
  /** The newest first, ended ones included. Default: all states, at most 100. */
  list(filter?: Parameters<ApprovalStore["list"]>[0]): Promise<readonly Approval[]>;
  /** Decides a question. `approver` is the immutable id of the person; the host has checked that they may. */
  resolve(id: string, answer: "allow" | "deny", approver: string): Promise<ResolveOutcome>;
  /** Waits for a decision; `expired` also when the signal is aborted. */
  wait(id: string, signal: AbortSignal): Promise<"allowed" | "denied" | "expired">;
  /**
   * Uses up an approval for exactly this request; `undefined` if there is none. A call that used one in an earlier
   * process, and continues in this one, takes it again: it may have had its effect.
   */
  take(request: ApprovalRequest, call?: ApprovedCall): Promise<Approval | undefined>;
}

/** The call that uses an approval, by ids that stay the same when it continues after a restart. */
export interface ApprovedCall {
  readonly runId: string;
  readonly callId: string;
}

export interface ApprovalsOptions {
  /** Where questions are kept. */
  readonly store: ApprovalStore;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
  /** How long a question and its answer live, in milliseconds; default 10 minutes. */
  readonly ttlMs?: number;
  /** Open questions of one session; default 5. More are refused. */
  readonly maxPendingPerSession?: number;
  /** Told of each question that ran out before anybody decided it, once. */
  readonly onExpired?: (question: Approval) => void;
  readonly makeId?: () => string;
}

/** Without letters and digits that are easily mistaken for one another. */
const ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
/** How often a waiting call checks for a decision that another process took, in milliseconds. */
const LOOK_MS = 2_000;

/** Questions that wait for a decision, and approvals that wait to be used. */
const ALL_OPEN = { states: ["pending", "allowed"], limit: Number.MAX_SAFE_INTEGER } as const;

/** Approvals over a store, which is the only authority on decisions. */
export function createApprovals(options: ApprovalsOptions): Approvals {
  return new StoredApprovals(options);
}

class StoredApprovals implements Approvals {
  readonly #options: ApprovalsOptions;
  readonly #now: () => number;
  readonly #ttlMs: number;
  readonly #maxPending: number;
  readonly #makeId: () => string;
  /** Who waits in this process, to be woken by what is decided in it. */
  readonly #waiting = new Map<string, Set<() => void>>();
  /** What was taken in this process, in which no call takes it twice. */
  readonly #taken = new Set<string>();

  constructor(options: ApprovalsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#ttlMs = options.ttlMs ?? 600_000;
    this.#maxPending = options.maxPendingPerSession ?? 5;
    this.#makeId = options.makeId ?? shortId;
  }

  async request(request: ApprovalRequest): Promise<Approval> {
    await this.#expire();
    for (;;) {
      const createdAt = this.#now();
      const question: Approval = {
        ...request,
        id: this.#makeId(),
        hash: requestHash(request),
        state: "pending",
        createdAt,
        expiresAt: createdAt + this.#ttlMs,
      };
      const asked = await this.#options.store.ask(question, this.#maxPending);
      if (asked.outcome === "asked") this.#expireInTime(asked.approval);
      if (asked.outcome === "asked" || asked.outcome === "open") return asked.approval;
      if (asked.outcome === "full")
        throw new Error(`${asked.open} approvals of this session are already open`);
    }
  }

  async list(filter?: Parameters<ApprovalStore["list"]>[0]): Promise<readonly Approval[]> {
    await this.#expire();
    return this.#options.store.list(filter);
  }

  async resolve(id: string, answer: "allow" | "deny", approver: string): Promise<ResolveOutcome> {
    await this.#expire();
    const approval = await this.#options.store.get(id);
    if (approval === undefined) return refused("unknown", `There is no approval ${id}.`);
    if (approval.state === "expired") return refused("expired", `Approval ${id} has expired.`);
    const grant = grantOf(approval, { approver, answer });
    const state = answer === "allow" ? "allowed" : "denied";
    const decided = await this.#change(id, "pending", { state, approver, grant, decidedAt: this.#now() });
    if (decided === undefined) return refused("decided", `Approval ${id} was already decided.`);
    return { ok: true, approval: decided };
  }

  async wait(id: string, signal: AbortSignal): Promise<"allowed" | "denied" | "expired"> {
    const before = await this.#decision(id);
    if (before !== "pending") return before;
    const { expiresAt } = (await this.#options.store.get(id)) ?? { expiresAt: 0 };
    return new Promise((resolve, reject) => {
      const look = (): void => {
        this.#decision(id).then(
          (now) => now !== "pending" && done(() => resolve(now)),
          (error: unknown) => done(() => reject(error)),
        );
      };
      const aborted = (): void => done(() => resolve("expired"));
      const looking = setInterval(look, LOOK_MS).unref();
      const ending = setTimeout(look, Math.max(0, expiresAt - this.#now())).unref();
      const lookers = this.#waiting.get(id) ?? new Set();
      this.#waiting.set(id, lookers.add(look));
      const done = (settle: () => void): void => {
        clearInterval(looking);
        clearTimeout(ending);
        signal.removeEventListener("abort", aborted);
        lookers.delete(look);
        if (lookers.size === 0) this.#waiting.delete(id);
        settle();
      };
      signal.addEventListener("abort", aborted, { once: true });
      if (signal.aborted) aborted();
      // It may have been decided while this was set up.
      else look();
    });
  }

  async take(request: ApprovalRequest, call?: ApprovedCall): Promise<Approval | undefined> {
    await this.#expire();
    const hash = requestHash(request);
    for (const approval of await this.#options.store.list({ ...ALL_OPEN, states: ["allowed"] })) {
      const { approver } = approval;
      if (approver === undefined || approval.hash !== hash) continue;
      if (approval.grant !== grantOf(approval, { approver, answer: "allow" })) continue;
      const grant = grantOf(approval, { approver, answer: "allow", call });
      const used = await this.#change(approval.id, "allowed", { state: "used", grant });
      if (used === undefined) continue;
      this.#taken.add(used.id);
      return used;
    }
    return call && this.#takeAgain(request, call);
  }

  async #change(id: string, from: ApprovalState, to: ApprovalChange): Promise<Approval | undefined> {
    const changed = await this.#options.store.change(id, from, to);
    for (const look of this.#waiting.get(id) ?? []) look();
    return changed;
  }

  async #expire(): Promise<void> {
    for (const { id, state, expiresAt } of await this.#options.store.list(ALL_OPEN)) {
      if (expiresAt > this.#now()) continue;
      const expired = await this.#change(id, state, { state: "expired" });
      if (expired !== undefined && state === "pending") this.#options.onExpired?.(expired);
    }
  }

  /** Also where nobody waits for the answer. What a failing store keeps from it, whoever looks next does. */
  #expireInTime({ expiresAt }: Approval): void {
    const expire = (): void => void this.#expire().catch(() => {});
    setTimeout(expire, Math.max(0, expiresAt - this.#now())).unref();
  }

  async #decision(id: string): Promise<"pending" | "allowed" | "denied" | "expired"> {
    await this.#expire();
    const state = (await this.#options.store.get(id))?.state;
    return state === "pending" || state === "allowed" || state === "denied" ? state : "expired";
  }

  async #takeAgain(request: ApprovalRequest, call: ApprovedCall): Promise<Approval | undefined> {
    const hash = requestHash(request);
    const before = (await this.#options.store.list({ states: ["used"] })).find(
      (approval) =>
        (approval.hash === hash || isDone(request, approval)) &&
        approval.expiresAt > this.#now() &&
        approval.approver !== undefined &&
        approval.grant === grantOf(approval, { approver: approval.approver, answer: "allow", call }) &&
        !this.#taken.has(approval.id),
    );
    if (before !== undefined) this.#taken.add(before.id);
    return before;
  }
}

/**
 * A restart forgets every question and every unused decision: calls that continue ask again. Returns the questions that
 * nobody had decided.
 */
export async function expireApprovals(store: ApprovalStore): Promise<readonly Approval[]> {
  const undecided: Approval[] = [];
  for (const { id, state } of await store.list(ALL_OPEN)) {
    const expired = await store.change(id, state, { state: "expired" });
    if (expired !== undefined && state === "pending") undecided.push(expired);
  }
  return undecided;
}

/** The question about one call. */
export function approvalRequest(
  tool: string,
  subject: ApprovalSubject,
  facts: RunFacts,
  reason: string,
): ApprovalRequest {
  const { agentId, sessionKey, taint } = facts;
  return { tool, subject, agentId, sessionKey, taint, reason };
}

interface GivenAnswer {
  readonly approver: string;
  readonly answer: "allow" | "deny";
  /** Once it is used. */
  readonly call?: ApprovedCall | undefined;
}

/** Binds a decision to its question and to the person who made it, and once it is used, to the call that used it. */
function grantOf({ hash, id }: Approval, { approver, answer, call }: GivenAnswer): string {
  return hashOf({ hash, id, approver, answer, call });
}

/** Everything that must not change between the question and the act. */
function requestHash({ tool, subject, agentId, sessionKey }: ApprovalRequest): string {
  return hashOf({ tool, subject, agentId, sessionKey });
}

/** Whether what was approved has taken effect, and nothing has changed since: asked now, there is nothing to do. */
function isDone(request: ApprovalRequest, approval: Approval): boolean {
  const { tool, agentId, sessionKey, subject } = request;
  const approved = approval.subject.states;
  return (
    approval.tool === tool &&
    approval.agentId === agentId &&
    approval.sessionKey === sessionKey &&
    approved !== undefined &&
    subject.states?.to === approved.to &&
    subject.states.from === approved.to
  );
}

function refused(code: "unknown" | "decided" | "expired", message: string): ResolveOutcome {
  return { ok: false, code, message };
}

function shortId(): string {
  return [...randomBytes(8)].map((byte) => ALPHABET.charAt(byte % 32)).join("");
}
