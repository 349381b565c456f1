import type { JsonObject, ToolResult } from "@signalbox/agent-core";
import { formatCount } from "./files/text.ts";
import type { View } from "./labels/covers.ts";
import type { Sandbox, SandboxOutcome } from "./sandbox/types.ts";

/**
 * Creates the result of a command that has ended.
 *
 * @param view the command's view of the workspace if files were hidden from it
 */
export function toExecResult(outcome: SandboxOutcome, sandbox: Sandbox, view: View | undefined): ToolResult {
  const details: JsonObject = {
    ...(outcome.exitCode === undefined ? {} : { exitCode: outcome.exitCode }),
    ...(outcome.signal === undefined ? {} : { signal: outcome.signal }),
    ...(outcome.stopped === undefined ? {} : { stopped: outcome.stopped }),
    outputChars: outcome.outputChars,
    durationMs: outcome.durationMs,
    sandbox: sandbox.level,
  };
  const output =
    outcome.output === "" || outcome.output.endsWith("\n") ? outcome.output : `${outcome.output}\n`;
  const hint =
    view?.hides === true
      ? "; files that other people sent or wrote were hidden from it; `read` such a file first"
      : "";
  const text = `${output}[${describeEnd(outcome, sandbox)}${outcome.exitCode === 0 ? "" : hint}]`;
  const content = [{ type: "text" as const, text }];
  return outcome.exitCode === 0 ? { content, details } : { content, details, isError: true };
}

function describeEnd(outcome: SandboxOutcome, { limits }: Sandbox): string {
  if (outcome.stopped === undefined) {
    return outcome.exitCode === undefined
      ? `ended by ${outcome.signal ?? "a signal"}`
      : `exit code ${outcome.exitCode}`;
  }
  switch (outcome.stopped) {
    case "timeout":
      return "stopped: it took too long; do less at a time";
    case "abort":
      return "stopped before it finished";
    case "processes":
      return `stopped: more than ${formatCount(limits.processes)} processes`;
    case "output":
      return "stopped: it printed far too much; write the output to a file or filter it";
    case "disk":
      return "stopped: it wrote too much to the disk, or the disk is nearly full";
    case "memory":
      return `stopped: more than ${formatCount(Math.round(limits.memoryBytes / 1_048_576))} MB of memory`;
  }
}
