import type { AssistantMessage, Block, ModelEvent, StreamModel } from "@signalbox/agent-core";
import type { RedactedStream, Vault } from "@signalbox/redaction";

/**
 * A model whose answers do not contain the gateway's secrets, not even their first letters: a viewer of a growing
 * answer never sees the start of one, and none is stored in a history or sent.
 */
export function withRedactedAnswers(stream: StreamModel, vault: Pick<Vault, "stream">): StreamModel {
  return async function* (...request) {
    const open = new Map<number, RedactedStream>();
    for await (const event of stream(...request)) {
      if (event.type === "text.delta") {
        const said = open.get(event.index) ?? vault.stream();
        open.set(event.index, said);
        yield* deltaOf(event.index, said.push(event.delta));
        continue;
      }
      if (event.type === "block.end") {
        const rest = open.get(event.index)?.end() ?? "";
        open.delete(event.index);
        yield* deltaOf(event.index, rest);
        yield { ...event, block: redactedBlock(event.block, vault) };
        continue;
      }
      if (isEnd(event)) {
        // A discarded attempt is not shown; a broken-off one is shown as far as it came.
        if (event.type !== "attempt" || event.discard !== true)
          for (const [index, said] of open) yield* deltaOf(index, said.end());
        open.clear();
      }
      yield redactedEvent(event, vault);
    }
  };
}

function isEnd({ type }: ModelEvent): boolean {
  return type === "attempt" || type === "finish" || type === "error";
}

function* deltaOf(index: number, delta: string): Generator<ModelEvent> {
  if (delta !== "") yield { type: "text.delta", index, delta };
}

function redactedEvent(event: ModelEvent, vault: Pick<Vault, "stream">): ModelEvent {
  switch (event.type) {
    case "finish":
      return { ...event, message: redactedMessage(event.message, vault) };
    case "error":
      return { ...event, partial: redactedMessage(event.partial, vault) };
    default:
      return event;
  }
}

function redactedMessage(message: AssistantMessage, vault: Pick<Vault, "stream">): AssistantMessage {
  return { ...message, content: message.content.map((block) => redactedBlock(block, vault)) };
}

function redactedBlock<T extends Block>(block: T, vault: Pick<Vault, "stream">): T {
  if (block.type !== "text") return block;
  const text = withoutSecrets(vault)(block.text);
  return text === block.text ? block : { ...block, text };
}

/** The same for a text that is there as a whole. */
export function withoutSecrets(vault: Pick<Vault, "stream">): (text: string) => string {
  return (text) => {
    const said = vault.stream();
    return said.push(text) + said.end();
  };
}
