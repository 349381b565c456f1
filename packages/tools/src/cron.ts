import { reasonOf, type ToolResult } from "@signalbox/agent-core";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "./define.ts";
import { failure, success } from "./result.ts";

/** A request from the model about schedules. */
export type CronRequest =
  | {
      readonly action: "add";
      /** The task that the agent gets when the schedule is due. */
      readonly text: string;
      /** The schedule as the model wrote it. It has exactly one entry. */
      readonly when: Readonly<Partial<Record<"at" | "in" | "every" | "cron", string>>>;
      readonly zone?: string;
      /** `once` runs missed tasks late, and only once. `skip` does not run them. Default: `once`. */
      readonly missed?: "once" | "skip";
    }
  | { readonly action: "list" }
  | { readonly action: "remove" | "run"; readonly id: string };

export interface CronToolOptions {
  /**
   * Handles the request and resolves with a description of the outcome for the model. If it rejects, the model sees the
   * error message. A call that is repeated after a restart has the same `callId`.
   */
  readonly carryOut: (
    request: CronRequest,
    call: { readonly sessionKey: string; readonly callId: string },
  ) => Promise<string>;
}

/** Creates the tool `cron`, with which an agent schedules tasks for itself. */
export function createCronTool({ carryOut }: CronToolOptions): ToolDefinition {
  return defineTool({
    name: "cron",
    description:
      "Schedule tasks for yourself in this conversation. `add` needs `text` and one of `at` (2026-12-24T18:00), `in` (2h 30m), `every` (1d) or `cron` (0 9 * * 1-5). `list` shows the schedules; `remove` and `run` need an `id`.",
    inputSchema: z.object({
      action: z.enum(["add", "list", "remove", "run"]),
      text: z.string().min(1).max(4_000).optional().describe("Task to do at that time"),
      at: z.string().max(100).optional(),
      in: z.string().max(100).optional(),
      every: z.string().max(100).optional(),
      cron: z.string().max(200).optional(),
      zone: z
        .string()
        .max(100)
        .optional()
        .describe("IANA time zone for `at` and `cron`, like Europe/Berlin or Asia/Shanghai"),
      missed: z
        .enum(["once", "skip"])
        .optional()
        .describe("If the gateway was down at a scheduled time: run the task once later, or skip it"),
      id: z.string().min(1).max(100).optional(),
    }),
    effects: "keyed",
    claims: ({ action, id, text, ...when }) =>
      action === "list"
        ? []
        : // The approval request shows the whole task.
          [{ kind: "schedule", detail: `${action} ${id ?? `${JSON.stringify(when)}: ${text ?? ""}`}` }],
    async run({ id: callId, args }, _context, { record }): Promise<ToolResult> {
      const request = toRequest(args);
      if (typeof request === "string") return failure(request);
      try {
        return success(await carryOut(request, { sessionKey: record.sessionKey, callId }), {});
      } catch (error) {
        return failure(reasonOf(error));
      }
    },
  });
}

interface CronArgs {
  readonly action: "add" | "list" | "remove" | "run";
  readonly text?: string | undefined;
  readonly at?: string | undefined;
  readonly in?: string | undefined;
  readonly every?: string | undefined;
  readonly cron?: string | undefined;
  readonly zone?: string | undefined;
  readonly missed?: "once" | "skip" | undefined;
  readonly id?: string | undefined;
}

/** Returns the request, or a message that names the missing argument. */
function toRequest({
  action,
  text,
  id,
  zone,
  missed,
  at,
  in: delay,
  every,
  cron,
}: CronArgs): CronRequest | string {
  switch (action) {
    case "list":
      return { action };
    case "add": {
      if (text === undefined) return "`add` needs `text`: the task to run.";
      const when = Object.entries({ at, in: delay, every, cron }).filter(([, value]) => value !== undefined);
      return { action, text, when: Object.fromEntries(when), zone, missed };
    }
    case "remove":
    case "run":
      return id === undefined ? `\`${action}\` needs the \`id\` that \`list\` shows.` : { action, id };
  }
}
