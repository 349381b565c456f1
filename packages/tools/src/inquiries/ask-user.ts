import { reasonOf } from "@signalbox/agent-core";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "../define.ts";
import { failure, success } from "../result.ts";
import type { InquiryEnd } from "./inquiry.ts";

/** What an agent asks the person it works for. */
export interface UserQuestion {
  readonly question: string;
  /** Answers to choose from; a person may answer in their own words all the same. */
  readonly options: readonly string[];
  /** How long the answer is waited for. */
  readonly ttlMs: number;
}

export interface AskUserToolOptions {
  /**
   * Puts the question, once for each call, and resolves with its end: at once where it has one already. Its errors are
   * told to the model. The call's id is the same when the same call is run again.
   */
  readonly ask: (
    question: UserQuestion,
    call: { readonly sessionKey: string; readonly callId: string; readonly signal: AbortSignal },
  ) => Promise<InquiryEnd>;
}

const MINUTE_MS = 60_000;
const DEFAULT_MINUTES = 60;

/** `ask_user`: asks the person that the run works for, and waits. */
export function createAskUserTool({ ask }: AskUserToolOptions): ToolDefinition {
  return defineTool({
    name: "ask_user",
    description:
      "Ask the person you work for something only they can answer, and wait for the answer. If there are a few possible answers, give them as `options`. Never ask for permission: a call that needs it asks by itself.",
    inputSchema: z.object({
      question: z.string().min(1).max(2_000),
      options: z.array(z.string().min(1).max(80)).min(2).max(8).optional(),
      timeout_minutes: z
        .int()
        .min(1)
        .max(24 * 60)
        .optional()
        .describe(`Default ${DEFAULT_MINUTES}`),
    }),
    effects: "keyed",
    // The wait is the loop's and not the body's: meanwhile the run takes nobody's place, and a restart goes on with it.
    async waitsFor({ id: callId, args }, { sessionKey }, signal) {
      await ask(questionOf(args), { sessionKey, callId, signal });
    },
    async run({ id: callId, args }, { signal }, { record: { sessionKey } }) {
      try {
        return success(inWords(await ask(questionOf(args), { sessionKey, callId, signal })), {});
      } catch (error) {
        return failure(reasonOf(error));
      }
    },
  });
}

function questionOf({
  question,
  options = [],
  timeout_minutes: minutes = DEFAULT_MINUTES,
}: {
  readonly question: string;
  readonly options?: readonly string[] | undefined;
  readonly timeout_minutes?: number | undefined;
}): UserQuestion {
  return { question, options, ttlMs: minutes * MINUTE_MS };
}

function inWords(end: InquiryEnd): string {
  switch (end.kind) {
    case "answered":
      return `They answered: ${end.text}`;
    case "passed-over":
      return "They sent something other than an answer; you will get it as a message.";
    case "expired":
      return "Nobody answered in time. Continue without the answer, or stop and say what you need.";
    case "stopped":
      return "The question was withdrawn before anyone answered.";
  }
}
