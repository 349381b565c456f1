import type { AgentToolboxRun, Approval, Approvals, BackgroundProcess } from "@signalbox/tools";
import type { ToolRun } from "./tool-run.ts";

/** The tools of one run. */
export type RunTools = AgentToolboxRun;

/** The tools of every agent. */
export interface Toolbox {
  /** The approval requests of all agents' tools. */
  readonly approvals: Approvals;
  /** Removes the buttons of approval requests from an earlier process, after their accounts have started. */
  endQuestions(approvals: readonly Approval[]): Promise<unknown>;
  forRun(run: ToolRun): Promise<RunTools>;
  /** Ends the background commands of one session, or of all sessions if no session is given. */
  endCommands(sessionKey?: string): Promise<void>;
  /** Ends the background commands that were started on behalf of matching speakers. */
  endCommandsStartedBy(matches: (speaker: string) => boolean): Promise<void>;
  /** Lists running background commands. */
  commands(): readonly BackgroundProcess[];
}
