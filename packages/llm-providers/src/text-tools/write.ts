import type {
  AssistantMessage,
  Block,
  InputBlock,
  Message,
  ModelContext,
  StreamOptions,
  ToolResultMessage,
  ToolSpec,
} from "@signalbox/agent-core";
import { groupResults } from "../shared/turns.ts";

export const CALL_OPEN = "<tool_call>";
export const CALL_CLOSE = "</tool_call>";
export const RESULT_OPEN = "<tool_result";

function describe(tool: ToolSpec): string {
  return `### ${tool.name}\n${tool.description}\nArguments (JSON Schema): ${JSON.stringify(tool.inputSchema)}`;
}

/** What a model without native tool calls is told about its tools. */
function toolInstructions(tools: readonly ToolSpec[], toolChoice: StreamOptions["toolChoice"]): string {
  const must =
    toolChoice === "required"
      ? "\nIn this answer you have to call a tool."
      : typeof toolChoice === "object"
        ? `\nIn this answer you have to call the tool "${toolChoice.name}".`
        : "";
  return `## Calling tools

To call a tool, write this and nothing after it, the tags on lines of their own:

${CALL_OPEN}
{"name": "<tool>", "arguments": {}}
${CALL_CLOSE}

"arguments" is a JSON object that fits the tool's schema. Several calls may follow each other. Then stop: the results come back as ${RESULT_OPEN}> elements in the next message. Never write a result yourself.${must}

${tools.map(describe).join("\n\n")}`;
}

function callText(block: Extract<Block, { type: "toolCall" }>): string {
  const body =
    block.args === undefined ? block.argsText : JSON.stringify({ name: block.name, arguments: block.args });
  return `${CALL_OPEN}\n${body}\n${CALL_CLOSE}`;
}

function assistantText(message: AssistantMessage): AssistantMessage {
  if (!message.content.some((block) => block.type === "toolCall")) return message;
  const content: Block[] = [];
  for (const block of message.content) {
    if (block.type !== "toolCall") {
      content.push(block);
      continue;
    }
    const last = content.at(-1);
    if (last?.type === "text")
      content[content.length - 1] = { type: "text", text: `${last.text.trimEnd()}\n${callText(block)}` };
    else content.push({ type: "text", text: callText(block) });
  }
  return { ...message, content };
}

function resultBlocks(message: ToolResultMessage): InputBlock[] {
  const status = message.isError ? ' status="error"' : "";
  const open = `${RESULT_OPEN} tool="${message.toolName}"${status}>\n`;
  return joinTexts([
    { type: "text", text: open },
    ...message.content,
    { type: "text", text: "\n</tool_result>" },
  ]);
}

/** The same with texts that follow each other in one block. */
function joinTexts(blocks: readonly InputBlock[]): InputBlock[] {
  const joined: InputBlock[] = [];
  for (const block of blocks) {
    const last = joined.at(-1);
    if (block.type === "text" && last?.type === "text")
      joined[joined.length - 1] = { type: "text", text: last.text + block.text };
    else joined.push(block);
  }
  return joined;
}

/** A history in which calls and results are text. */
function textHistory(messages: readonly Message[]): Message[] {
  return groupResults(messages).map((group): Message => {
    if (group.role === "user") return group;
    if (group.role === "assistant") return assistantText(group);
    const { results } = group;
    return {
      role: "user",
      content: results.flatMap(resultBlocks),
      timestamp: results.at(-1)?.timestamp ?? 0,
    };
  });
}

/** The context as a model without native tool calls is given it. */
export function textContext(context: ModelContext, toolChoice: StreamOptions["toolChoice"]): ModelContext {
  const messages = textHistory(context.messages);
  if (context.tools.length === 0 || toolChoice === "none") return { ...context, messages, tools: [] };
  const instructions = toolInstructions(context.tools, toolChoice);
  const { stable } = context.system;
  return {
    system: { ...context.system, stable: stable === "" ? instructions : `${stable}\n\n${instructions}` },
    messages,
    tools: [],
  };
}
