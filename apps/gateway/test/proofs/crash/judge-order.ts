import { nameOf } from "./conversation.ts";
import type { Evidence } from "./evidence.ts";
import { messageId } from "./platform.ts";
import type { Seen } from "./seen.ts";

/**
 * What is wrong with the messages of a conversation, in the order in which the model is told them. Each is there once
 * and after those before it; missing are only commands, which are no part of it, deleted messages, what a new
 * conversation or a summary has left behind, and what was set aside: a message under whose attachments several
 * processes died gets no run.
 */
export function judgeOrder(
  evidence: Pick<Evidence, "acknowledged" | "deletions" | "inbox">,
): (conversation: Pick<Seen, "said" | "isSummarized">) => string | undefined {
  const deleted = new Set(evidence.deletions.map(({ name }) => name));
  const setAside = new Set(
    evidence.inbox.flatMap(({ messageId: id, rule }) => (rule === "poison" ? [id] : [])),
  );
  const kinds = new Map(evidence.acknowledged.map((tag) => [nameOf(tag), tag.kind]));
  const newConversations = (session: number): number[] =>
    evidence.acknowledged.flatMap((tag) =>
      tag.session === session && tag.kind === "new" ? [tag.number] : [],
    );

  return ({ said, isSummarized }) => {
    const [first] = said;
    const last = said.at(-1);
    if (first === undefined || last === undefined) return undefined;
    const { session } = first;
    if (said.some((tag) => tag.session !== session)) return "a message of another conversation";
    const began = Math.max(0, ...newConversations(session).filter((number) => number < last.number));
    if (first.number <= began) return `what was said before /new at ${began}`;
    let next = began + 1;
    for (const { number } of said) {
      if (number < next) return `${number} after ${next - 1}`;
      for (; next < number; next++) {
        const name = nameOf({ session, number: next, kind: "plain" });
        const kind = kinds.get(name);
        const may =
          deleted.has(name) ||
          setAside.has(messageId(name)) ||
          kind === "new" ||
          kind === "compact" ||
          kind === "status" ||
          (isSummarized && next < first.number);
        if (!may) return `without ${next}`;
      }
      next = number + 1;
    }
    return undefined;
  };
}
