import type { AgentLoopConfig } from "../config.ts";
import type { EmitEvent } from "../events.ts";
import type { Step } from "../hooks.ts";
import type { ToolSet } from "../schema/compile.ts";
import type { Repeats } from "./repeats.ts";
import type { RunSignal } from "./run-signal.ts";
import type { Tally } from "./tally.ts";

/** What the calls of a turn need of the run they are part of. */
export interface CallHost {
  readonly config: AgentLoopConfig;
  readonly tools: ToolSet;
  readonly stop: RunSignal;
  readonly tally: Tally;
  readonly repeats: Repeats;
  readonly graceMs: number;
  readonly resultChars: number;
  readonly turn: number;
  readonly emit: EmitEvent;
  step(step: Step): Promise<void> | void;
  now(): number;
}
