import assert from "node:assert/strict";
import type { AssistantMessage, Block, ModelErrorData, ModelEvent } from "@signalbox/agent-core";

/** A stream that was read to the end and checked. */
export interface ReadTurn {
  readonly events: readonly ModelEvent[];
  /** The finished message, or the part that had arrived. */
  readonly message: AssistantMessage;
  readonly error: ModelErrorData | undefined;
}

/**
 * Checks the guarantees of a stream: `start` comes first, block indexes increase by one, each block is opened and
 * closed once, its deltas add up to it, and exactly one terminal event comes last. A discarded attempt starts over.
 *
 * @throws AssertionError with the violated guarantee
 */
export function checkEvents(events: readonly ModelEvent[]): ReadTurn {
  let attempt = new CheckedAttempt();
  let result: ReadTurn | undefined;
  for (const event of events) {
    assert.equal(result, undefined, `"${event.type}" came after the terminal event`);
    if (event.type === "attempt") {
      const isVoid = event.discard === true;
      assert.equal(
        isVoid,
        attempt.started,
        "only an attempt that has started can be discarded, and it has to be",
      );
      attempt = new CheckedAttempt();
      continue;
    }
    attempt.add(event);
    if (event.type === "finish") result = { events, message: event.message, error: undefined };
    if (event.type === "error") result = { events, message: event.partial, error: event.error };
  }
  assert.ok(result !== undefined, "the stream ended without a terminal event");
  attempt.checkMessage(result);
  return result;
}

class CheckedAttempt {
  started = false;
  /** The blocks in order, each with its concatenated deltas and its final form. */
  readonly #blocks: { readonly type: string; text: string; sealed?: Block }[] = [];

  add(event: Exclude<ModelEvent, { type: "attempt" }>): void {
    const where = this.started ? "came again" : "came before start";
    assert.equal(event.type === "start", !this.started, `"${event.type}" ${where}`);
    this.started = true;
    switch (event.type) {
      case "block.start":
        assert.equal(event.index, this.#blocks.length, "block indexes have to rise by one");
        this.#blocks.push({ type: event.block.type, text: "" });
        break;
      case "text.delta":
      case "thinking.delta":
      case "tool.delta":
        this.#opened(event.index, "appended to").text += event.delta;
        break;
      case "block.end": {
        const opened = this.#opened(event.index, "ended");
        checkSealed(event.block, opened);
        opened.sealed = event.block;
        break;
      }
      default:
    }
  }

  #opened(index: number, what: string) {
    const block = this.#blocks[index];
    const isOpen = block !== undefined && block.sealed === undefined;
    assert.ok(isOpen, `block ${index} was ${what} although it is not open`);
    return block;
  }

  checkMessage({ message, error }: ReadTurn): void {
    const sealed = this.#blocks.map((block) => block.sealed);
    assert.ok(!sealed.includes(undefined), "some blocks were never ended");
    assert.deepEqual(message.content, sealed, "the message does not consist of the finished blocks");
    const calls = message.content.some((block) => block.type === "toolCall");
    assert.ok(
      error !== undefined || message.stopReason !== "tool_use" || calls,
      "the stop reason is tool_use, but there is no call",
    );
  }
}

/** @param opened the block as it was opened, with its concatenated deltas. A block without deltas arrived complete. */
function checkSealed(block: Block, opened: { readonly type: string; readonly text: string }): void {
  // Text turns out to be thinking when its closing tag arrives. Thinking turns out to be text if no closing tag does.
  const isEither = [block.type, opened.type].every((type) => type === "text" || type === "thinking");
  assert.ok(isEither || block.type === opened.type, `a ${opened.type} block was ended as ${block.type}`);
  const text = block.type === "toolCall" ? block.argsText : "text" in block ? block.text : "";
  if (opened.text !== "") assert.equal(text, opened.text, "the deltas do not add up to the finished block");
  const isWhole = block.type !== "toolCall" || (block.args === undefined) !== (block.argsError === undefined);
  assert.ok(isWhole, "a call has either arguments or an error");
}

/** Reads a stream to the end and checks it. */
export async function readTurn(stream: AsyncIterable<ModelEvent>): Promise<ReadTurn> {
  const events: ModelEvent[] = [];
  for await (const event of stream) events.push(event);
  return checkEvents(events);
}
