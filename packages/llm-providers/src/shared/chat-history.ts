import type {
  AssistantMessage,
  Message,
  ToolCallBlock,
  ToolResultMessage,
  UserMessage,
} from "@signalbox/agent-core";
import { groupResults } from "./turns.ts";

/** Creates the messages of a chat API, which differ between wire formats. */
export interface ChatFormat<Param> {
  user(content: UserMessage["content"]): Param;
  /**
   * Returns `undefined` if nothing in the turn can be sent.
   *
   * @param isCurrent whether the turn follows the last user message
   */
  assistant(message: AssistantMessage, isCurrent: boolean): Param | undefined;
  result(result: ToolResultMessage): Param;
  /** Returns a user message with the content that tool results cannot contain. */
  attached?(results: readonly ToolResultMessage[]): Param | undefined;
  /** Separates tool results from a user message, for servers that reject one directly after the other. */
  readonly separator: Param | undefined;
}

/** Converts a history to chat messages, without the system prompt. */
export function chatMessages<Param extends { readonly role?: string | undefined }>(
  messages: readonly Message[],
  format: ChatFormat<Param>,
): Param[] {
  const out: Param[] = [];
  const addUser = (param: Param): void => {
    if (format.separator !== undefined && out.at(-1)?.role === "tool") out.push(format.separator);
    out.push(param);
  };
  const groups = groupResults(messages);
  const lastUser = groups.findLastIndex(({ role }) => role === "user");
  for (const [at, group] of groups.entries()) {
    if (group.role === "user") addUser(format.user(group.content));
    else if (group.role === "assistant") {
      const param = format.assistant(group, at > lastUser);
      if (param !== undefined) out.push(param);
    } else {
      out.push(...group.results.map((result) => format.result(result)));
      const attached = format.attached?.(group.results);
      if (attached !== undefined) addUser(attached);
    }
  }
  return out;
}

/** Returns the texts and the calls of a model turn, or `undefined` if it has neither. */
export function getSpeech({
  content,
}: AssistantMessage):
  | { readonly texts: readonly string[]; readonly calls: readonly ToolCallBlock[] }
  | undefined {
  const texts = content.flatMap((block) =>
    (block.type === "text" || block.type === "refusal") && block.text !== "" ? [block.text] : [],
  );
  const calls = content.filter((block) => block.type === "toolCall");
  return texts.length === 0 && calls.length === 0 ? undefined : { texts, calls };
}
