import { reasonOf, type ToolResult } from "@signalbox/agent-core";
import type { MessageAction, MessageDestination, MessageOutcome } from "@signalbox/channel";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "./define.ts";
import { failure, success } from "./result.ts";
import type { RunFacts } from "./types.ts";

type MessageActionName = MessageAction["action"];

/** The call that requests an action. */
interface MessageContext {
  readonly signal: AbortSignal;
  readonly agentId: string;
  readonly sessionKey: string;
  /** Stays the same if the call is repeated after a restart. */
  readonly callId: string;
}

export interface MessageToolOptions {
  /** Actions that the agent's channels support. Default: `send`. */
  readonly actions?: readonly MessageActionName[];
  /** Performs an action. */
  readonly send: (action: MessageAction, context: MessageContext) => Promise<MessageOutcome>;
  /** Returns true if a destination is the run's own conversation. Default: true only if the call has no destination. */
  readonly isCurrent?: (destination: MessageDestination, facts: RunFacts) => boolean;
}

/** Creates the tool `message`, with which an agent sends and changes messages during a run. */
export function createMessageTool(options: MessageToolOptions): ToolDefinition {
  const actions: readonly [MessageActionName, ...MessageActionName[]] = nonEmpty(options.actions ?? ["send"]);
  return defineTool({
    name: "message",
    description: `Act in a conversation: ${actions.join(", ")}. Without \`target\`, in the current conversation.`,
    inputSchema: createSchema(actions),
    effects: "external",
    claims: (args, facts) => {
      const destination = { target: args.target, channel: args.channel };
      const isHere = args.target === undefined && args.channel === undefined;
      if (isHere || (options.isCurrent?.(destination, facts) ?? false)) return [];
      return [{ kind: "message_elsewhere", detail: [args.channel, args.target].filter(Boolean).join(" ") }];
    },
    async run({ id: callId, args }, { signal }, { record }): Promise<ToolResult> {
      const action = toAction(args);
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

function createSchema(actions: readonly [MessageActionName, ...MessageActionName[]]) {
  return z.object({
    action: z.enum(actions),
    message: z.string().min(1).optional().describe("Text to send or edit, or the question of a poll"),
    target: z
      .string()
      .min(1)
      .optional()
      .describe("Another conversation, by its address (`slack:C024BE91L`) or a person's id"),
    channel: z
      .string()
      .min(1)
      .optional()
      .describe("Channel of the person in `target`, if it is not the current one"),
    options: z.array(z.string().min(1)).min(2).max(20).optional().describe("Options of a poll"),
    multiple: z.boolean().optional().describe("Whether a poll accepts several answers"),
    media: z.array(z.string().min(1)).max(10).optional().describe("Files or URLs to send"),
    reply_to: z.string().min(1).optional().describe("For `send`: id of the message to reply to"),
    message_id: z.string().min(1).optional().describe("Id of a message that you received, or a `sent-…` id"),
    emoji: z.string().min(1).max(64).optional(),
  });
}

type MessageArgs = z.output<ReturnType<typeof createSchema>>;

/** Returns the action, or a message that names the missing argument. */
function toAction(args: MessageArgs): MessageAction | string {
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
