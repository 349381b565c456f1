import type {
  AssistantMessage,
  Block,
  InputBlock,
  Message,
  ModelContext,
  StreamOptions,
  TextBlock,
  ToolCallBlock,
  ToolResultMessage,
  ToolSpec,
} from "@signalbox/agent-core";
import { type Group, groupResults } from "../shared/turns.ts";

export const CALL_OPEN = "<tool_call>";
export const CALL_CLOSE = "</tool_call>";
export const RESULT_OPEN = "<tool_result";

function describe({ name, description, inputSchema }: ToolSpec): string {
  return `### ${name}\n${description}\nArguments (JSON Schema): ${JSON.stringify(inputSchema)}`;
}

/** Instructions for a model on how to write tool calls in its text. */
function toolInstructions(tools: readonly ToolSpec[], toolChoice: StreamOptions["toolChoice"]): string {
  const which = typeof toolChoice === "object" ? `the tool "${toolChoice.name}"` : "a tool";
  const isForced = toolChoice === "required" || typeof toolChoice === "object";
  const must = isForced ? `\nIn this answer you have to call ${which}.` : "";
  return `## Calling tools

To call a tool, write this and nothing after it, the tags on lines of their own:

${CALL_OPEN}
{"name": "<tool>", "arguments": {}}
${CALL_CLOSE}

"arguments" is a JSON object that fits the tool's schema. Several calls may follow each other. Then stop: the results come back as ${RESULT_OPEN}> elements in the next message. Never write a result yourself.${must}

${tools.map(describe).join("\n\n")}`;
}

function callText({ name, args, argsText }: ToolCallBlock): TextBlock {
  const body = args === undefined ? argsText : JSON.stringify({ name, arguments: args });
  return { type: "text", text: `${CALL_OPEN}\n${body}\n${CALL_CLOSE}` };
}

function assistantText(message: AssistantMessage): AssistantMessage {
  const { content } = message;
  if (!content.some(({ type }) => type === "toolCall")) return message;
  const said = content.map((block) => (block.type === "toolCall" ? callText(block) : block));
  return { ...message, content: joinTexts(said) };
}

function resultBlocks({ toolName, content, isError }: ToolResultMessage): InputBlock[] {
  const open = `${RESULT_OPEN} tool="${toolName}"${isError ? ' status="error"' : ""}>`;
  return joinTexts([{ type: "text", text: open }, ...content, { type: "text", text: "</tool_result>" }]);
}

/** Joins consecutive texts into one block, on separate lines. */
function joinTexts<B extends Block>(blocks: readonly (B | TextBlock)[]): (B | TextBlock)[] {
  const joined: (B | TextBlock)[] = [];
  for (const block of blocks) {
    const last = joined.at(-1);
    if (block.type === "text" && last?.type === "text")
      joined[joined.length - 1] = { type: "text", text: `${last.text.trimEnd()}\n${block.text}` };
    else joined.push(block);
  }
  return joined;
}

/** Converts a message, or the results of one turn. Calls and results become text. */
function textMessage(group: Group): Message {
  if (group.role === "user") return group;
  if (group.role === "assistant") return assistantText(group);
  const [{ timestamp }] = group.results;
  return { role: "user", content: group.results.flatMap(resultBlocks), timestamp };
}

/** Converts a request for a model without native tool calls. */
export function textContext(context: ModelContext, toolChoice: StreamOptions["toolChoice"]): ModelContext {
  const messages = groupResults(context.messages).map(textMessage);
  if (context.tools.length === 0 || toolChoice === "none") return { ...context, messages, tools: [] };
  const instructions = toolInstructions(context.tools, toolChoice);
  const stable = [context.system.stable, instructions].filter(Boolean).join("\n\n");
  return { system: { ...context.system, stable }, messages, tools: [] };
}
