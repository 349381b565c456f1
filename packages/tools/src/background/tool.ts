import type { ToolResult } from "@signalbox/agent-core";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "../define.ts";
import { getAuthor, isForeign } from "../labels/label.ts";
import { failure, getContentRoom, success } from "../result.ts";
import { isAtLeast } from "../run-state.ts";
import type { Permit, RunFacts } from "../types.ts";
import type { BackgroundProcess, Processes } from "./processes.ts";

export interface ProcessToolOptions {
  readonly processes: Processes;
  /** Returns the time in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

const MAX_WAIT_S = 30;
const MAX_INPUT = 10_000;

/**
 * Creates the tool `process`, which lists, reads, writes to and kills the background commands of a conversation. Its
 * effects are external.
 */
export function createProcessTool({ processes, now = Date.now }: ProcessToolOptions): ToolDefinition {
  return defineTool({
    name: "process",
    description:
      "Background commands of this conversation: `list` them, `poll` one for output (waits up to `wait_seconds` for more), `write` a line to its input, `kill` it.",
    inputSchema: z.object({
      action: z.enum(["list", "poll", "write", "kill"]),
      id: z.string().min(1).max(20).optional(),
      input: z
        .string()
        .max(MAX_INPUT)
        .optional()
        .describe("For `write`: a line that ends with \\n. An empty text closes the input"),
      wait_seconds: z.number().min(0).max(MAX_WAIT_S).optional(),
    }),
    effects: "external",
    truncate: "head_tail",
    // Input can be a command, for example in a shell, so an allow rule does not cover `write`.
    isCovered: async ({ action }) => action !== "write",
    async run({ args }, context, { run }): Promise<ToolResult> {
      const commands = processes.list(run.facts.sessionKey);
      if (args.action === "list") {
        for (const process of commands) taintBy(process, "", run);
        return success(formatList(commands, now()), { processes: commands.length });
      }
      const process = commands.find(({ id }) => id === args.id);
      if (process === undefined)
        return failure(
          `There is no command ${args.id ?? "without an id"} in the background of this conversation.`,
        );
      if (args.action === "write") {
        if (!mayWrite(process, run.facts)) return failure(TOO_FEW_RIGHTS);
        const isWritten = process.write(
          args.input === undefined || args.input === "" ? undefined : args.input,
        );
        if (!isWritten && process.end() === undefined) return failure(INPUT_CLOSED);
      }
      if (args.action === "kill") await process.kill();
      else await process.wait((args.wait_seconds ?? 0) * 1_000, true);
      context.signal.throwIfAborted();
      return toResult(process, processes, getContentRoom(context), run);
    },
  });
}

const TOO_FEW_RIGHTS =
  "This command was started by someone with more rights, or before this run had seen untrusted content. It accepts no input from here.";

const INPUT_CLOSED = "The input of this command is closed. Poll it or kill it.";

/**
 * Returns true if the run may write to a command. A command processes its input with the rights of the run that started
 * it, so the writer needs at least these rights.
 */
function mayWrite({ facts: before }: BackgroundProcess, facts: RunFacts): boolean {
  return isAtLeast(facts.role, before.role) && (facts.taint.length === 0 || before.taint.length > 0);
}

/**
 * Taints the run that reads a command. The run that started the command wrote the command line, and the output may
 * repeat it, so both taint the reader.
 */
function taintBy(process: BackgroundProcess, output: string, run: Permit["run"]): void {
  const marks = process.getTaint(output);
  for (const mark of marks) run.taint(mark);
  if (marks.length > 0) return;
  const author = getAuthor(process.facts);
  if (author !== undefined && isForeign(author, run.facts))
    run.taint({ source: author.source, detail: `the command ${process.id}` });
}

function formatList(processes: readonly BackgroundProcess[], now: number): string {
  if (processes.length === 0) return "(nothing is running in the background)";
  return processes
    .map(({ id, command, startedAt, end }) => {
      const state = end() === undefined ? `running for ${Math.round((now - startedAt) / 1_000)} s` : "ended";
      return `${id} ${state}: ${command.split("\n", 1)[0]?.slice(0, 200)}`;
    })
    .join("\n");
}

function toResult(
  process: BackgroundProcess,
  processes: Processes,
  room: number,
  run: Permit["run"],
): ToolResult {
  const output = process.output();
  taintBy(process, output, run);
  const end = process.end();
  if (end !== undefined) processes.forget(process);
  const text = output.length > room ? `[…]\n${output.slice(output.length - room)}` : output;
  const state =
    end === undefined ? `${process.id} is running` : `${process.id} has ended: ${describeEnd(end)}`;
  const lines = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return success(`${lines.toWellFormed()}[${state}]`, { id: process.id, running: end === undefined });
}

function describeEnd(end: Exclude<ReturnType<BackgroundProcess["end"]>, undefined>): string {
  if (typeof end === "string") return end;
  if (end.stopped !== undefined) return `stopped (${end.stopped})`;
  return end.exitCode === undefined ? `by ${end.signal ?? "a signal"}` : `exit code ${end.exitCode}`;
}
