import { randomBytes } from "node:crypto";
import type { ApprovalChange, ApprovalState } from "@signalbox/store/types";
import type { Approval, ApprovalRequest, ApprovalStore } from "./approval-store.ts";
import { hashJson } from "./hash.ts";
import type { AllowRules } from "./persistence/allow-rules.ts";
import type { ApprovalSubject, RunFacts } from "./types.ts";

/**
 * `allow` approves one call. `allow-always` also creates an allow rule, so that later calls of the same command run
 * without approval.
 */
type ApprovalDecision = "allow" | "allow-always" | "deny";

type ResolveOutcome =
  | { readonly ok: true; readonly approval: Approval }
  | { readonly ok: false; readonly code: "unknown" | "decided" | "expired"; readonly message: string };

/** Asks people to approve single calls. A decision is bound to exactly what was shown and can be used once. */
export interface Approvals {
  /** Creates an approval request, or returns the pending one for the same call. */
  request(request: ApprovalRequest): Promise<Approval>;
  /** Lists approvals, newest first. Default: all states, at most 100. */
  list(filter?: Parameters<ApprovalStore["list"]>[0]): Promise<readonly Approval[]>;
  /**
   * Decides an approval request.
   *
   * @param approver immutable id of the person. The host must have checked that this person may decide.
   */
  resolve(id: string, decision: ApprovalDecision, approver: string): Promise<ResolveOutcome>;
  /** Waits for a decision. Resolves with `expired` if the signal is aborted. */
  wait(id: string, signal: AbortSignal): Promise<"allowed" | "denied" | "expired">;
  /**
   * Consumes an approval for exactly this request, if there is one. A call that consumed an approval in an earlier
   * process and is repeated in this one gets the same approval, because the call may already have had its effect.
   */
  take(request: ApprovalRequest, call?: ApprovedCall): Promise<Approval | undefined>;
  /**
   * Stops prompting people. Pending requests stay pending. Calls that are repeated after a restart request approval
   * again.
   */
  close(reason: Error): void;
  /** Rejects with the reason passed to {@link close}. */
  readonly closed: Promise<never>;
}

/** The call that consumes an approval. Both ids stay the same if the call is repeated after a restart. */
interface ApprovedCall {
  readonly runId: string;
  readonly callId: string;
}

export interface ApprovalsOptions {
  readonly store: ApprovalStore;
  /** Returns the time in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Time for which a request and its decision are valid, in milliseconds. Default: 10 minutes. */
  readonly ttlMs?: number;
  /** Maximum number of pending requests in one session. Further requests are refused. Default: 5. */
  readonly maxPendingPerSession?: number;
  /** Notifies people about a new request. Called once per request. Default: people are not notified. */
  readonly prompt?: (approval: Approval) => Promise<void>;
  /** Called after each decision. */
  readonly onDecided?: (approval: Approval, approver: string) => void;
  /** Called once for each request that expired without a decision. */
  readonly onExpired?: (approval: Approval) => void;
  /** Stores the rules that `allow-always` creates. Default: they are not stored. */
  readonly allowRules?: Pick<AllowRules, "add">;
  readonly makeId?: () => string;
}

/** Letters and digits that are not easily confused with one another. */
const ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
/** Interval at which a waiting call polls the store for a decision that another process received, in milliseconds. */
const POLL_MS = 2_000;

/** Selects requests without a decision, and decisions that were not used yet. */
const ALL_OPEN = { states: ["pending", "allowed"], limit: Number.MAX_SAFE_INTEGER } as const;

/** Creates approvals on top of a store. Every decision is read from the store. */
export function createApprovals(options: ApprovalsOptions): Approvals {
  return new StoredApprovals(options);
}

class StoredApprovals implements Approvals {
  readonly #options: ApprovalsOptions;
  readonly #now: () => number;
  readonly #ttlMs: number;
  readonly #maxPending: number;
  readonly #makeId: () => string;
  /** Callbacks that wake the waiting calls in this process, by approval. */
  readonly #waiting = new Map<string, Set<() => void>>();
  /** Approvals that this process has consumed. */
  readonly #usedHere = new Set<string>();
  readonly #closing = Promise.withResolvers<never>();
  #isClosed = false;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#ttlMs = options.ttlMs ?? 600_000;
    this.#maxPending = options.maxPendingPerSession ?? 5;
    this.#makeId = options.makeId ?? createShortId;
    this.#closing.promise.catch(() => {});
  }

  get closed(): Promise<never> {
    return this.#closing.promise;
  }

  close(reason: Error): void {
    this.#isClosed = true;
    this.#closing.reject(reason);
  }

  async request(request: ApprovalRequest): Promise<Approval> {
    await this.#expire();
    for (;;) {
      const createdAt = this.#now();
      const approval: Approval = {
        ...request,
        id: this.#makeId(),
        hash: requestHash(request),
        state: "pending",
        createdAt,
        expiresAt: createdAt + this.#ttlMs,
      };
      const result = await this.#options.store.ask(approval, this.#maxPending);
      if (result.outcome === "full")
        throw new Error(`this session already has ${result.open} pending approval requests`);
      if (result.outcome === "open") return result.approval;
      if (result.outcome === "asked") {
        this.#expireLater(result.approval);
        if (!this.#isClosed) await this.#options.prompt?.(result.approval);
        return result.approval;
      }
      // The id is taken. Try another one.
    }
  }

  async list(filter?: Parameters<ApprovalStore["list"]>[0]): Promise<readonly Approval[]> {
    await this.#expire();
    return this.#options.store.list(filter);
  }

  async resolve(id: string, decision: ApprovalDecision, approver: string): Promise<ResolveOutcome> {
    await this.#expire();
    const approval = await this.#options.store.get(id);
    if (approval === undefined) return refuse("unknown", `There is no approval ${id}.`);
    if (approval.state === "expired") return refuse("expired", `Approval ${id} has expired.`);
    const answer = decision === "deny" ? "deny" : "allow";
    const grant = getGrant(approval, { approver, answer });
    const state = answer === "allow" ? "allowed" : "denied";
    const decided = await this.#change(id, "pending", { state, approver, grant, decidedAt: this.#now() });
    if (decided === undefined) return refuse("decided", `Approval ${id} was already decided.`);
    // The decision is stored, so it counts even if the rule cannot be stored.
    this.#options.onDecided?.(decided, approver);
    if (decision === "allow-always")
      await this.#options.allowRules?.add(decided.agentId, decided.subject.rules ?? []);
    return { ok: true, approval: decided };
  }

  async wait(id: string, signal: AbortSignal): Promise<"allowed" | "denied" | "expired"> {
    const before = await this.#decision(id);
    if (before !== "pending") return before;
    const { expiresAt } = (await this.#options.store.get(id)) ?? { expiresAt: 0 };
    return new Promise((resolve, reject) => {
      const poll = (): void => {
        this.#decision(id).then(
          (now) => now !== "pending" && done(() => resolve(now)),
          (error: unknown) => done(() => reject(error)),
        );
      };
      const aborted = (): void => done(() => resolve("expired"));
      const polling = setInterval(poll, POLL_MS).unref();
      const expiring = setTimeout(poll, Math.max(0, expiresAt - this.#now())).unref();
      const callbacks = this.#waiting.get(id) ?? new Set();
      this.#waiting.set(id, callbacks.add(poll));
      const done = (settle: () => void): void => {
        clearInterval(polling);
        clearTimeout(expiring);
        signal.removeEventListener("abort", aborted);
        callbacks.delete(poll);
        if (callbacks.size === 0) this.#waiting.delete(id);
        settle();
      };
      signal.addEventListener("abort", aborted, { once: true });
      if (signal.aborted) aborted();
      // The request may have been decided before the callback was registered.
      else poll();
    });
  }

  async take(request: ApprovalRequest, call?: ApprovedCall): Promise<Approval | undefined> {
    await this.#expire();
    const hash = requestHash(request);
    for (const approval of await this.#options.store.list({ ...ALL_OPEN, states: ["allowed"] })) {
      const { approver } = approval;
      if (approver === undefined || approval.hash !== hash) continue;
      if (approval.grant !== getGrant(approval, { approver, answer: "allow" })) continue;
      const grant = getGrant(approval, { approver, answer: "allow", call });
      const used = await this.#change(approval.id, "allowed", { state: "used", grant });
      if (used === undefined) continue;
      this.#usedHere.add(used.id);
      return used;
    }
    return call && this.#takeAgain(request, call);
  }

  async #change(id: string, from: ApprovalState, to: ApprovalChange): Promise<Approval | undefined> {
    const changed = await this.#options.store.change(id, from, to);
    for (const wake of this.#waiting.get(id) ?? []) wake();
    return changed;
  }

  async #expire(): Promise<void> {
    for (const { id, state, expiresAt } of await this.#options.store.list(ALL_OPEN)) {
      if (expiresAt > this.#now()) continue;
      const expired = await this.#change(id, state, { state: "expired" });
      if (expired !== undefined && state === "pending") this.#options.onExpired?.(expired);
    }
  }

  /**
   * Expires a request on time even if no call is waiting for it. If the store fails, the next access expires the
   * request.
   */
  #expireLater({ expiresAt }: Approval): void {
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
    const used = (await this.#options.store.list({ states: ["used"] })).find(
      (approval) =>
        (approval.hash === hash || isAlreadyDone(request, approval)) &&
        approval.expiresAt > this.#now() &&
        approval.approver !== undefined &&
        approval.grant === getGrant(approval, { approver: approval.approver, answer: "allow", call }) &&
        !this.#usedHere.has(approval.id),
    );
    if (used !== undefined) this.#usedHere.add(used.id);
    return used;
  }
}

/**
 * Expires pending requests and unused decisions from an earlier process. Calls that are repeated after a restart
 * request approval again.
 *
 * @param isOwn returns false for requests of runs that another process executes. Default: always true
 * @returns the requests that were still undecided
 */
export async function expireApprovals(
  store: ApprovalStore,
  isOwn: (approval: Approval) => boolean = () => true,
): Promise<readonly Approval[]> {
  const undecided: Approval[] = [];
  for (const approval of await store.list(ALL_OPEN)) {
    if (!isOwn(approval)) continue;
    const { id, state } = approval;
    const expired = await store.change(id, state, { state: "expired" });
    if (expired !== undefined && state === "pending") undecided.push(expired);
  }
  return undecided;
}

/** Creates the approval request for one call. */
export function createApprovalRequest(
  tool: string,
  subject: ApprovalSubject,
  facts: RunFacts,
  reason: string,
): ApprovalRequest {
  const { agentId, sessionKey, taint } = facts;
  return { tool, subject, agentId, sessionKey, taint, reason };
}

interface GrantInput {
  readonly approver: string;
  readonly answer: "allow" | "deny";
  /** The call that used the approval. */
  readonly call?: ApprovedCall | undefined;
}

/**
 * Returns the hash that binds a decision to its request, to the person who made it and, once it is used, to the call
 * that used it.
 */
function getGrant({ hash, id }: Approval, { approver, answer, call }: GrantInput): string {
  return hashJson({ hash, id, approver, answer, call });
}

/** Returns the hash of everything that must not change between the request and the call. */
function requestHash({ tool, subject, agentId, sessionKey }: ApprovalRequest): string {
  return hashJson({ tool, subject, agentId, sessionKey });
}

/** Returns true if the approved change has already been made and is still in effect. */
function isAlreadyDone(request: ApprovalRequest, approval: Approval): boolean {
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

function refuse(code: "unknown" | "decided" | "expired", message: string): ResolveOutcome {
  return { ok: false, code, message };
}

function createShortId(): string {
  return [...randomBytes(8)].map((byte) => ALPHABET.charAt(byte % 32)).join("");
}
