import { type Check, checkBlock, checkText, type Fields, fields, refuse } from "./blocks.ts";

/** A message with valid blocks. */
export interface Turn {
  readonly role: unknown;
  readonly blocks: readonly Fields[];
}

export function checkMessages(messages: unknown, check: Check): Turn[] {
  if (!Array.isArray(messages)) refuse("messages: Field required");
  if (messages.length === 0) refuse("messages: at least one message is required");
  return messages.map((value: unknown, at) => {
    const path = `messages.${at}`;
    const message = fields(value) ?? refuse(`${path}: Input should be an object`);
    for (const key of Object.keys(message))
      if (key !== "role" && key !== "content") refuse(`${path}.${key}: Extra inputs are not permitted`);
    const { role, content } = message;
    if (role !== "user" && role !== "assistant")
      refuse(`messages: Unexpected role "${String(role)}". Allowed roles are "user" or "assistant".`);
    if (at === 0 && role !== "user") refuse('messages: first message must use the "user" role');
    const last = at === messages.length - 1;
    if (content === undefined) refuse(`${path}.content: Field required`);
    if (
      (content === "" || (Array.isArray(content) && content.length === 0)) &&
      !(last && role === "assistant")
    )
      refuse(
        `${path}: all messages must have non-empty content except for the optional final assistant message`,
      );
    if (typeof content === "string") {
      if (content !== "") checkText(content, path);
      if (last && role === "assistant" && content !== content.trimEnd())
        refuse("messages: final assistant content cannot end with trailing whitespace");
      return { role, blocks: [{ type: "text", text: content }] };
    }
    if (!Array.isArray(content)) refuse(`${path}.content: Input should be a valid string or list`);
    const blocks = content.map((block: unknown, i) => checkBlock(block, role, `${path}.content.${i}`, check));
    const end = blocks.at(-1);
    if (
      last &&
      role === "assistant" &&
      end?.type === "text" &&
      String(end.text) !== String(end.text).trimEnd()
    )
      refuse("messages: final assistant content cannot end with trailing whitespace");
    if (role === "assistant" && (end?.type === "thinking" || end?.type === "redacted_thinking") && last)
      refuse(`${path}: The final block in an assistant message cannot be \`thinking\`.`);
    return { role, blocks };
  });
}

/** Checks that each call has a result in the next message, and each result a call. */
export function checkPairs(turns: readonly Turn[]): void {
  turns.forEach((turn, at) => {
    const uses = turn.blocks.filter((block) => block.type === "tool_use").map((block) => String(block.id));
    const next = turns[at + 1];
    if (uses.length > 0) {
      const results = new Set(
        next?.role === "user"
          ? next.blocks
              .filter((block) => block.type === "tool_result")
              .map((block) => String(block.tool_use_id))
          : [],
      );
      const missing = uses.filter((id) => !results.has(id));
      if (missing.length > 0)
        refuse(
          `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
        );
    }
    const before = turns[at - 1];
    const known = new Set(
      before?.role === "assistant"
        ? before.blocks.filter((block) => block.type === "tool_use").map((block) => String(block.id))
        : [],
    );
    const answered = new Set<string>();
    let text = false;
    turn.blocks.forEach((block, i) => {
      if (block.type !== "tool_result") {
        text = true;
        return;
      }
      const id = String(block.tool_use_id);
      if (!known.has(id))
        refuse(
          `messages.${at}.content.${i}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
        );
      if (answered.has(id))
        refuse(
          `messages.${at}.content.${i}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
        );
      if (text)
        refuse(`messages.${at}: \`tool_result\` blocks must come before other content in the message.`);
      answered.add(id);
    });
  });
}
