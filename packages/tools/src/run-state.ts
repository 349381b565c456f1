import type { Role, RunFacts, TaintMark } from "./types.ts";

const RANK: Readonly<Record<Role, number>> = { guest: 0, member: 1, system: 2, owner: 3 };

/** Whether a role may do all that another may. */
export function isAtLeast(role: Role, other: Role): boolean {
  return RANK[role] >= RANK[other];
}

/** That of two roles which may less. */
export function weakerRole(one: Role, other: Role): Role {
  return RANK[one] < RANK[other] ? one : other;
}

/** The facts of a run. They only get narrower. */
export interface RunState {
  readonly facts: RunFacts;
  /** Counts the changes. */
  readonly version: number;
  /** Untrusted content came in. */
  taint(mark: TaintMark): void;
  /** Another message joined the run: it continues with the weaker of the two roles, and for one person at most. */
  spoke(role: Role, speaker: string | undefined): void;
}

/** Starts the state of a run. */
export function createRunState(facts: RunFacts): RunState {
  let current = Object.freeze({ ...facts, taint: Object.freeze([...facts.taint]) });
  let version = 0;
  const change = (next: RunFacts) => {
    current = Object.freeze({ ...next, taint: Object.freeze([...next.taint]) });
    version += 1;
  };
  return {
    get facts() {
      return current;
    },
    get version() {
      return version;
    },
    taint(mark) {
      if (current.taint.some((seen) => seen.source === mark.source && seen.detail === mark.detail)) return;
      change({ ...current, taint: [...current.taint, { ...mark }] });
    },
    spoke(role, speaker) {
      const { speaker: before, ...rest } = current;
      if (before !== undefined && speaker !== before) change(rest);
      if (RANK[role] < RANK[current.role]) change({ ...current, role });
    },
  };
}
