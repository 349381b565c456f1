import { reasonOf, type ToolResult } from "@signalbox/agent-core";
import type { MessageAction, MessageDestination, MessageOutcome } from "@signalbox/channel";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "./define.ts";
import { failure, success } from "./result.ts";
import type { RunFacts } from "./types.ts";

export type MessageActionName = MessageAction["action"];

/** From which run an action comes. */
export interface MessageContext {
  readonly signal: AbortSignal;
  readonly agentId: string;
  readonly sessionKey: string;
  /** The same when the same call is run again. */
  readonly callId: string;
}

export interface MessageToolOptions {
  /** What the channels of this agent can do; default `send` alone. */
  readonly actions?: readonly MessageActionName[];
  /** Carries out one action. */
  readonly send: (action: MessageAction, context: MessageContext) => Promise<MessageOutcome>;
  /** Whether a destination is the conversation that the run answers; default: only when it names none. */
  readonly isCurrent?: (destination: MessageDestination, facts: RunFacts) => boolean;
}

/** `message`: says or does something in a conversation during the run. External. */
export function createMessageTool(options: MessageToolOptions): ToolDefinition {
  const actions: readonly [MessageActionName, ...MessageActionName[]] = nonEmpty(options.actions ?? ["send"]);
  return defineTool({
    name: "message",
    description: `Act in a conversation: ${actions.join(", ")}. Without \`target\` it is the current one.`,
    inputSchema: messageArgs(actions),
    effects: "external",
    claims: (args, facts) => {
      const destination = { target: args.target, channel: args.channel };
      const here = args.target === undefined && args.channel === undefined;
      if (here || (options.isCurrent?.(destination, facts) ?? false)) return [];
      return [{ kind: "message-elsewhere", detail: [args.channel, args.target].filter(Boolean).join(" ") }];
    },
    async run({ id: callId, args }, { signal }, { record }): Promise<ToolResult> {
      const action = actionOf(args);
      if (typeof action === "string") return failure(action);
      try {
        const outcome = await options.send(action, {
          signal,
          callId,
          agentId: record.agentId,
          sessionKey: record.sessionKey,
        });
        return outcome.ok ? success(outcome.text, outcome.details ?? {}) : failure(outcome.message);
      } catch (error) {
        return failure(`The ${args.action} failed: ${reasonOf(error)}`);
      }
    },
  });
}

function messageArgs(actions: readonly [MessageActionName, ...MessageActionName[]]) {
  return z.object({
    action: z.enum(actions),
    message: z.string().min(1).optional().describe("For send and edit; the question of a poll"),
    target: z
      .string()
      .min(1)
      .optional()
      .describe("Another conversation: its address, `slack:C024BE91L`, or a person's id"),
    channel: z.string().min(1).optional().describe("Of a person's id, where it is another one"),
    options: z.array(z.string().min(1)).min(2).max(20).optional().describe("Of a poll"),
    multiple: z.boolean().optional().describe("Of a poll"),
    media: z.array(z.string().min(1)).max(10).optional().describe("Files or URLs, for send"),
    reply_to: z.string().min(1).optional().describe("For send"),
    message_id: z.string().min(1).optional().describe("A message you were given, or `sent-…`"),
    emoji: z.string().min(1).max(64).optional(),
  });
}

type MessageArgs = z.output<ReturnType<typeof messageArgs>>;

/** The action, or what is missing. */
function actionOf(args: MessageArgs): MessageAction | string {
  const { action, target, channel } = args;
  if (action === "send") {
    const media = args.media ?? [];
    if (args.message === undefined && media.length === 0) return "send needs `message` or `media`.";
    return { action, target, channel, text: args.message ?? "", media, replyTo: args.reply_to };
  }
  if (action === "poll") {
    const { message: question, options, multiple = false } = args;
    if (question === undefined || options === undefined) return "poll needs `message` and `options`.";
    return { action, target, channel, question, options, multiple };
  }
  if (args.message_id === undefined) return `${action} needs \`message_id\`.`;
  const messageId = args.message_id;
  switch (action) {
    case "react":
      return args.emoji === undefined
        ? "react needs `emoji`."
        : { action, target, channel, messageId, emoji: args.emoji };
    case "edit":
      return args.message === undefined
        ? "edit needs `message`."
        : { action, target, channel, messageId, text: args.message };
    case "close_poll":
    case "delete":
      return { action, target, channel, messageId };
  }
}

function nonEmpty(names: readonly MessageActionName[]): [MessageActionName, ...MessageActionName[]] {
  const [first = "send", ...rest] = names;
  return [first, ...rest];
}
