import type { AssistantMessage, Block, ModelEvent, StreamModel, ToolCallBlock } from "@signalbox/agent-core";
import { type RedactedStream, redactJson, type Vault } from "@signalbox/redaction";

type DeltaEvent = Extract<ModelEvent, { readonly delta: string }>;

/**
 * Wraps a model to remove the gateway's secrets from the text, the thinking and the tool call arguments of its answers.
 * Text that may be the beginning of a secret is held back, so that viewers of a streaming answer never see a fragment
 * of one.
 */
export function withRedactedAnswers(stream: StreamModel, vault: Pick<Vault, "stream">): StreamModel {
  return async function* (...request) {
    const open = new Map<number, { readonly type: DeltaEvent["type"]; readonly text: RedactedStream }>();
    for await (const event of stream(...request)) {
      if (isDelta(event)) {
        const { type, index, delta } = event;
        const block = open.get(index) ?? { type, text: vault.stream() };
        open.set(index, block);
        yield* toDelta(type, index, block.text.push(delta));
        continue;
      }
      if (event.type === "block.end") {
        const block = open.get(event.index);
        open.delete(event.index);
        if (block !== undefined) yield* toDelta(block.type, event.index, block.text.end());
        yield { ...event, block: redactBlock(event.block, vault) };
        continue;
      }
      if (isEnd(event)) {
        // Discarded attempts are not shown. Interrupted ones are shown up to the interruption.
        if (event.type !== "attempt" || event.discard !== true)
          for (const [index, { type, text }] of open) yield* toDelta(type, index, text.end());
        open.clear();
      }
      yield redactEvent(event, vault);
    }
  };
}

function isDelta(event: ModelEvent): event is DeltaEvent {
  return event.type === "text.delta" || event.type === "thinking.delta" || event.type === "tool.delta";
}

function isEnd({ type }: ModelEvent): boolean {
  return type === "attempt" || type === "finish" || type === "error";
}

function* toDelta(type: DeltaEvent["type"], index: number, delta: string): Generator<ModelEvent> {
  if (delta !== "") yield { type, index, delta };
}

function redactEvent(event: ModelEvent, vault: Pick<Vault, "stream">): ModelEvent {
  switch (event.type) {
    case "finish":
      return { ...event, message: redactMessage(event.message, vault) };
    case "error":
      return { ...event, partial: redactMessage(event.partial, vault) };
    default:
      return event;
  }
}

function redactMessage(message: AssistantMessage, vault: Pick<Vault, "stream">): AssistantMessage {
  return { ...message, content: message.content.map((block) => redactBlock(block, vault)) };
}

function redactBlock(block: Block, vault: Pick<Vault, "stream">): Block {
  const redact = withoutSecrets(vault);
  switch (block.type) {
    case "text":
    case "refusal":
    case "citation": {
      const text = redact(block.text);
      return text === block.text ? block : { ...block, text };
    }
    case "thinking": {
      const text = redact(block.text);
      // A vendor's signature is valid only for the original text.
      return text === block.text ? block : { ...block, text, native: undefined };
    }
    case "toolCall":
      return redactCall(block, redact);
    default:
      return block;
  }
}

function redactCall(call: ToolCallBlock, redact: (text: string) => string): ToolCallBlock {
  const text = redact(call.argsText);
  if (call.args === undefined) return text === call.argsText ? call : { ...call, argsText: text };
  const args = redactJson(call.args, redact) as typeof call.args;
  // Rebuild the text from the arguments: replacing a number in it would produce invalid JSON.
  return text === call.argsText && args === call.args
    ? call
    : { ...call, args, argsText: JSON.stringify(args) };
}

/** Returns a function that removes the gateway's secrets from a complete text. */
export function withoutSecrets(vault: Pick<Vault, "stream">): (text: string) => string {
  return (text) => {
    const redacted = vault.stream();
    return redacted.push(text) + redacted.end();
  };
}
