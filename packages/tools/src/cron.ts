import { reasonOf, type ToolResult } from "@signalbox/agent-core";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "./define.ts";
import { failure, success } from "./result.ts";

/** What the model asks of the host's schedules. */
export type CronRequest =
  | {
      readonly action: "add";
      /** The text for the agent when it is due. */
      readonly text: string;
      /** Exactly one of these, as the model wrote it. */
      readonly when: Readonly<Partial<Record<"at" | "in" | "every" | "cron", string>>>;
      readonly zone?: string;
      /** What happens to times that pass while no gateway runs. Default: the last one comes late. */
      readonly missed?: "once" | "skip";
    }
  | { readonly action: "list" }
  | { readonly action: "remove" | "run"; readonly id: string };

export interface CronToolOptions {
  /**
   * Carries a request out and describes the outcome in words. Its errors are told to the model. The call's id is the
   * same if the same call is run again.
   */
  readonly carryOut: (
    request: CronRequest,
    call: { readonly sessionKey: string; readonly callId: string },
  ) => Promise<string>;
}

/** `cron`: what the agent is to do later, by itself. */
export function createCronTool({ carryOut }: CronToolOptions): ToolDefinition {
  return defineTool({
    name: "cron",
    description:
      "Have yourself do something later, in this conversation. `add` takes `text` and one of `at` (2026-12-24T18:00), `in` (2h 30m), `every` (1d) and `cron` (0 9 * * 1-5); also `list`, `remove`, `run`.",
    inputSchema: z.object({
      action: z.enum(["add", "list", "remove", "run"]),
      text: z.string().min(1).max(4_000).optional(),
      at: z.string().max(100).optional(),
      in: z.string().max(100).optional(),
      every: z.string().max(100).optional(),
      cron: z.string().max(200).optional(),
      zone: z.string().max(100).optional(),
      missed: z
        .enum(["once", "skip"])
        .optional()
        .describe("What was due while the gateway was down comes once, late, or not at all"),
      id: z.string().min(1).max(100).optional(),
    }),
    effects: "keyed",
    claims: ({ action, id, text, ...when }) =>
      action === "list"
        ? []
        : // An owner who is asked sees all that the agent would be told.
          [{ kind: "schedule", detail: `${action} ${id ?? `${JSON.stringify(when)}: ${text ?? ""}`}` }],
    async run({ id: callId, args }, _context, { record }): Promise<ToolResult> {
      const request = requestOf(args);
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

/** The request, or what is missing. */
function requestOf({
  action,
  text,
  id,
  zone,
  missed,
  at,
  in: within,
  every,
  cron,
}: CronArgs): CronRequest | string {
  switch (action) {
    case "list":
      return { action };
    case "add": {
      if (text === undefined) return "`add` needs `text`: what you are to do then.";
      const when = Object.entries({ at, in: within, every, cron }).filter(([, value]) => value !== undefined);
      return {
        action,
        text,
        when: Object.fromEntries(when),
        ...(zone === undefined ? {} : { zone }),
        ...(missed === undefined ? {} : { missed }),
      };
    }
    case "remove":
    case "run":
      return id === undefined ? `\`${action}\` needs the \`id\` that \`list\` shows.` : { action, id };
  }
}
