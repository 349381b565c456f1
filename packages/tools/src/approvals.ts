import { randomBytes } from "node:crypto";
import { hashOf } from "./hash.ts";
import type { ApprovalSubject, RunFacts, TaintMark } from "./types.ts";

/** What a person is asked to approve. */
export interface ApprovalRequest {
  readonly tool: string;
  readonly subject: ApprovalSubject;
  readonly agentId: string;
  readonly sessionKey: string;
  /** Why it is asked, with the sources of the taint. */
  readonly reason: string;
  readonly taint: readonly TaintMark[];
}

export type ApprovalState = "pending" | "allowed" | "denied" | "used" | "expired";

export interface Approval extends ApprovalRequest {
  /** Eight letters and digits that a person can type. */
  readonly id: string;
  readonly state: ApprovalState;
  /** Over tool, subject, agent and session, as hexadecimal digits. */
  readonly hash: string;
  /** Over `hash`, id and approver; present once someone decided. */
  readonly grant?: string;
  readonly approver?: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

export type ResolveOutcome =
  | { readonly ok: true; readonly approval: Approval }
  | { readonly ok: false; readonly code: "unknown" | "decided" | "expired"; readonly message: string };

/** Questions to people about single calls. An answer is bound to exactly what was shown and is used once. */
export interface Approvals {
  /** Asks; the same question that is still open is not asked twice. */
  request(request: ApprovalRequest): Promise<Approval>;
  list(): Promise<readonly Approval[]>;
  /** Answers. `approver` is the immutable id of whoever does; the host has checked that they may. */
  resolve(id: string, answer: "allow" | "deny", approver: string): Promise<ResolveOutcome>;
  /** Waits for an answer; `expired` also when the signal ends. */
  wait(id: string, signal: AbortSignal): Promise<"allowed" | "denied" | "expired">;
  /** Uses up an answer of `allow` for exactly this request; `undefined` when there is none. */
  take(request: ApprovalRequest): Promise<Approval | undefined>;
}

export interface MemoryApprovalsOptions {
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
  /** How long a question and its answer live, in milliseconds; default 10 minutes. */
  readonly ttlMs?: number;
  /** Open questions of one session; default 5. More are refused. */
  readonly maxPendingPerSession?: number;
  readonly makeId?: () => string;
}

/** Without letters and digits that are easily mistaken for one another. */
const ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/** Approvals in memory: a restart forgets them all, as it should. */
export function createMemoryApprovals(options: MemoryApprovalsOptions = {}): Approvals {
  const now = options.now ?? Date.now;
  const ttlMs = options.ttlMs ?? 600_000;
  const maxPending = options.maxPendingPerSession ?? 5;
  const makeId = options.makeId ?? shortId;
  const entries = new Map<string, Approval>();
  const waiters = new Map<string, Set<(approval: Approval) => void>>();

  const put = (approval: Approval): Approval => {
    entries.set(approval.id, approval);
    if (approval.state !== "pending") {
      const waiting = waiters.get(approval.id);
      waiters.delete(approval.id);
      for (const notify of waiting ?? []) notify(approval);
    }
    return approval;
  };
  const expire = (): void => {
    for (const approval of entries.values()) {
      if (approval.expiresAt > now()) continue;
      if (approval.state === "pending" || approval.state === "allowed")
        put({ ...approval, state: "expired" });
      else if (approval.expiresAt + ttlMs <= now()) entries.delete(approval.id);
    }
  };

  return {
    async request(request) {
      expire();
      const hash = requestHash(request);
      const open = [...entries.values()].filter(
        (each) => each.state === "pending" && each.sessionKey === request.sessionKey,
      );
      const same = open.find((each) => each.hash === hash);
      if (same !== undefined) return same;
      if (open.length >= maxPending)
        throw new Error(`${open.length} approvals of this session are already open`);
      let id = makeId();
      while (entries.has(id)) id = makeId();
      const createdAt = now();
      return put({ ...request, id, hash, state: "pending", createdAt, expiresAt: createdAt + ttlMs });
    },

    async list() {
      expire();
      return [...entries.values()];
    },

    async resolve(id, answer, approver) {
      expire();
      const approval = entries.get(id);
      if (approval === undefined) return refused("unknown", `There is no approval ${id}.`);
      if (approval.state === "expired") return refused("expired", `The approval ${id} has expired.`);
      if (approval.state !== "pending") return refused("decided", `The approval ${id} was already decided.`);
      const grant = hashOf({ hash: approval.hash, id, approver, answer });
      const state = answer === "allow" ? "allowed" : "denied";
      return { ok: true, approval: put({ ...approval, state, approver, grant }) };
    },

    async wait(id, signal) {
      expire();
      const approval = entries.get(id);
      if (approval === undefined) return "expired";
      if (approval.state !== "pending") return outcome(approval);
      return new Promise((resolve) => {
        const set = waiters.get(id) ?? new Set();
        waiters.set(id, set);
        const done = (result: "allowed" | "denied" | "expired") => {
          clearTimeout(timer);
          signal.removeEventListener("abort", aborted);
          set.delete(notify);
          resolve(result);
        };
        const notify = (decided: Approval) => done(outcome(decided));
        const aborted = () => done("expired");
        const timer = setTimeout(
          () => {
            expire();
            done("expired");
          },
          Math.max(0, approval.expiresAt - now()),
        );
        timer.unref();
        set.add(notify);
        signal.addEventListener("abort", aborted, { once: true });
        if (signal.aborted) aborted();
      });
    },

    async take(request) {
      expire();
      const hash = requestHash(request);
      for (const approval of entries.values()) {
        if (approval.state !== "allowed" || approval.hash !== hash || approval.approver === undefined)
          continue;
        const grant = hashOf({ hash, id: approval.id, approver: approval.approver, answer: "allow" });
        if (grant === approval.grant) return put({ ...approval, state: "used" });
      }
      return undefined;
    },
  };
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

/** Everything that must not change between the question and the act. */
function requestHash({ tool, subject, agentId, sessionKey }: ApprovalRequest): string {
  return hashOf({ tool, subject, agentId, sessionKey });
}

function outcome(approval: Approval): "allowed" | "denied" | "expired" {
  if (approval.state === "allowed" || approval.state === "denied") return approval.state;
  return "expired";
}

function refused(code: "unknown" | "decided" | "expired", message: string): ResolveOutcome {
  return { ok: false, code, message };
}

function shortId(): string {
  return [...randomBytes(8)].map((byte) => ALPHABET.charAt(byte % 32)).join("");
}
