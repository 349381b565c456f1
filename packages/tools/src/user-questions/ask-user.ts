import { reasonOf } from "@signalbox/agent-core";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "../define.ts";
import { failure, success } from "../result.ts";
import type { UserQuestionOutcome } from "./user-question.ts";

/** A question for the person whom the agent works for. */
export interface AskUserRequest {
  readonly question: string;
  /** Suggested answers. The person can always answer in their own words. */
  readonly options: readonly string[];
  /** Time limit for the answer, in milliseconds. */
  readonly ttlMs: number;
}

export interface AskUserToolOptions {
  /**
   * Asks the question once per call and resolves with its outcome, immediately if there already is one. If it rejects,
   * the model sees the error message. A call that is repeated after a restart has the same `callId`.
   */
  readonly ask: (
    request: AskUserRequest,
    call: { readonly sessionKey: string; readonly callId: string; readonly signal: AbortSignal },
  ) => Promise<UserQuestionOutcome>;
}

const MINUTE_MS = 60_000;
const DEFAULT_MINUTES = 60;

/** Creates the tool `ask_user`, which asks the person whom the run works for and waits for the answer. */
export function createAskUserTool({ ask }: AskUserToolOptions): ToolDefinition {
  return defineTool({
    name: "ask_user",
    description:
      "Ask the person you work for something that only they can answer, and wait for the answer. If there are a few possible answers, list them in `options`. Never ask for permission: a call that needs approval requests it automatically.",
    inputSchema: z.object({
      question: z.string().min(1).max(2_000),
      options: z.array(z.string().min(1).max(80)).min(2).max(8).optional(),
      timeout_minutes: z
        .int()
        .min(1)
        .max(24 * 60)
        .optional()
        .describe(`Maximum waiting time in minutes. Default: ${DEFAULT_MINUTES}`),
    }),
    effects: "keyed",
    // The loop waits here instead of in `run`. While it waits, the run does not occupy a run slot, and a restart
    // resumes the wait.
    async waitsFor({ id: callId, args }, { sessionKey }, signal) {
      await ask(toRequest(args), { sessionKey, callId, signal });
    },
    async run({ id: callId, args }, { signal }, { record: { sessionKey } }) {
      try {
        return success(describeOutcome(await ask(toRequest(args), { sessionKey, callId, signal })), {});
      } catch (error) {
        return failure(reasonOf(error));
      }
    },
  });
}

function toRequest({
  question,
  options = [],
  timeout_minutes: minutes = DEFAULT_MINUTES,
}: {
  readonly question: string;
  readonly options?: readonly string[] | undefined;
  readonly timeout_minutes?: number | undefined;
}): AskUserRequest {
  return { question, options, ttlMs: minutes * MINUTE_MS };
}

function describeOutcome(outcome: UserQuestionOutcome): string {
  switch (outcome.kind) {
    case "answered":
      return `They answered: ${outcome.text}`;
    case "passed_over":
      return "They did not answer the question. What they sent instead follows as a message.";
    case "expired":
      return "Nobody answered in time. Continue without the answer, or stop and say what you need.";
    case "stopped":
      return "The question was withdrawn before anyone answered.";
  }
}
