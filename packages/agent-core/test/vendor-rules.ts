import type { AgentMessage, Message } from "../src/index.ts";

/**
 * Returns the reasons for which vendors reject a conversation. Independent of the code that repairs one: the pairing of
 * calls and results (Anthropic, OpenAI, Mistral), unique call ids (Anthropic), the first role (Anthropic, Google),
 * blank content (Anthropic), turns of the model in a row (Mistral, Google).
 */
export function vendorProblems(messages: readonly (Message | AgentMessage)[]): string[] {
  const problems: string[] = [];
  const ids = new Set<string>();
  let open: string[] = [];
  let previous: Message | AgentMessage | undefined;
  messages.forEach((message, index) => {
    const say = (problem: string) => problems.push(`${index} ${problem}`);
    if (message.role === "toolResult") {
      if (open[0] !== message.toolCallId) say(`result of "${message.toolCallId}", expected "${open[0]}"`);
      open = open.slice(1);
    } else {
      if (open.length > 0) say(`calls without results: ${open.join()}`);
      open = [];
    }
    if (previous === undefined && (message.role === "assistant" || message.role === "toolResult"))
      say("first role");
    if (message.role === "assistant") {
      if (previous?.role === "assistant" && previous.stopReason !== "pause") say("two model turns in a row");
      if (message.content.length === 0) say("empty turn");
      const visible = message.content.map((block) => block.type === "text" && block.text.trim() !== "");
      message.content.forEach((block, at) => {
        const between = visible.indexOf(true) < at && at < visible.lastIndexOf(true);
        if (block.type === "text" && block.native === undefined && !visible[at])
          if (block.text === "" || !between) say("blank text");
        if (block.type !== "toolCall") return;
        if (block.id === "" || ids.has(block.id)) say(`call id "${block.id}" used before`);
        ids.add(block.id);
        open.push(block.id);
      });
    } else if (message.role === "user") {
      const { content } = message;
      if (typeof content === "string" ? content.trim() === "" : content.length === 0) say("empty message");
      if (
        typeof content !== "string" &&
        content.some((block) => block.type === "text" && block.text.trim() === "")
      ) {
        say("blank text");
      }
    }
    previous = message;
  });
  if (open.length > 0) problems.push(`end: calls without results: ${open.join()}`);
  return problems;
}
