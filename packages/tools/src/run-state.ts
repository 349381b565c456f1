import type { Role, RunFacts, TaintMark } from "./types.ts";

const RANK: Readonly<Record<Role, number>> = { guest: 0, member: 1, system: 2, owner: 3 };

/** Returns true if `role` has at least the rights of `other`. */
export function isAtLeast(role: Role, other: Role): boolean {
  return RANK[role] >= RANK[other];
}

/** Returns the role with fewer rights. */
export function getWeakerRole(one: Role, other: Role): Role {
  return RANK[one] < RANK[other] ? one : other;
}

/** The facts about a run. Changes only ever reduce the run's rights. */
export interface RunState {
  readonly facts: RunFacts;
  /** Incremented on each change. */
  readonly version: number;
  /** Adds untrusted content that the run has read. */
  taint(mark: TaintMark): void;
  /**
   * Adds a speaker. The run continues with the weaker role. If the speaker is another person, the run no longer has a
   * single speaker.
   */
  addSpeaker(role: Role, speaker: string | undefined): void;
}

/** Creates a run's state from its initial facts. */
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
    addSpeaker(role, speaker) {
      const { speaker: before, ...rest } = current;
      if (before !== undefined && speaker !== before) change(rest);
      if (RANK[role] < RANK[current.role]) change({ ...current, role });
    },
  };
}
