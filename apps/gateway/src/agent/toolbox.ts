import type { AgentToolboxRun, Approval, Approvals, BackgroundProcess } from "@signalbox/tools";
import type { ToolRun } from "./tool-run.ts";

/** The tools of one run. */
export type RunTools = AgentToolboxRun;

/** The tools of every agent. */
export interface Toolbox {
  /** The approval requests of all agents' tools. */
  readonly approvals: Approvals;
  /** Takes the buttons away from questions that an earlier process has left, once their accounts run. */
  endQuestions(approvals: readonly Approval[]): Promise<unknown>;
  forRun(run: ToolRun): Promise<RunTools>;
  /** Ends the commands in the background, of one conversation or, where the gateway stops, of all. */
  endCommands(sessionKey?: string): Promise<void>;
  /** Ends those that were started for such speakers. */
  endCommandsOf(isOf: (speaker: string) => boolean): Promise<void>;
  /** Commands that go on in the background. */
  commands(): readonly BackgroundProcess[];
}
