import type {
  AssistantMessage,
  Block,
  InputBlock,
  Message,
  ModelContext,
  StreamOptions,
  ToolResultMessage,
  ToolSpec,
  UserMessage,
} from "@signalbox/agent-core";

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
  const blocks: InputBlock[] = [
    { type: "text", text: open },
    ...message.content,
    { type: "text", text: "\n</tool_result>" },
  ];
  const merged: InputBlock[] = [];
  for (const block of blocks) {
    const last = merged.at(-1);
    if (block.type === "text" && last?.type === "text")
      merged[merged.length - 1] = { type: "text", text: last.text + block.text };
    else merged.push(block);
  }
  return merged;
}

/** Rewrites histories so that calls and results are text; the same messages give the same objects again. */
export class TextHistory {
  readonly #known = new WeakMap<Message, Message>();

  convert(messages: readonly Message[]): Message[] {
    const out: Message[] = [];
    for (let i = 0; i < messages.length; i++) {
      const message = messages[i];
      if (message === undefined) continue;
      if (message.role !== "toolResult") {
        out.push(message.role === "assistant" ? this.#once(message, () => assistantText(message)) : message);
        continue;
      }
      const group: ToolResultMessage[] = [message];
      for (let next = messages[i + 1]; next?.role === "toolResult"; next = messages[i + 1]) {
        group.push(next);
        i++;
      }
      out.push(this.#once(message, () => asUser(group)));
    }
    return out;
  }

  #once(message: Message, make: () => Message): Message {
    const known = this.#known.get(message);
    if (known !== undefined) return known;
    const made = make();
    this.#known.set(message, made);
    return made;
  }
}

function asUser(results: readonly ToolResultMessage[]): UserMessage {
  return {
    role: "user",
    content: results.flatMap(resultBlocks),
    timestamp: results.at(-1)?.timestamp ?? 0,
  };
}

/** The context as a model without native tool calls is given it. */
export function textContext(
  context: ModelContext,
  history: TextHistory,
  toolChoice: StreamOptions["toolChoice"],
): ModelContext {
  const messages = history.convert(context.messages);
  if (context.tools.length === 0 || toolChoice === "none") return { ...context, messages, tools: [] };
  const instructions = toolInstructions(context.tools, toolChoice);
  const { stable } = context.system;
  return {
    system: { ...context.system, stable: stable === "" ? instructions : `${stable}\n\n${instructions}` },
    messages,
    tools: [],
  };
}
