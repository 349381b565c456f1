import assert from "node:assert/strict";
import type { AssistantMessage, Block, ModelErrorData, ModelEvent } from "@signalbox/agent-core";

/** A stream read to its end, checked. */
export interface ReadTurn {
  readonly events: readonly ModelEvent[];
  /** The finished message, or what there was of it. */
  readonly message: AssistantMessage;
  readonly error: ModelErrorData | undefined;
}

/** What the deltas of a block have to add up to; `undefined` for blocks that arrive whole. */
function streamed(block: Block): string | undefined {
  switch (block.type) {
    case "text":
    case "thinking":
    case "refusal":
      return block.text;
    case "toolCall":
      return block.argsText;
    default:
      return undefined;
  }
}

/**
 * Checks what every stream of events promises, whatever its vendor did: `start` first, indexes that rise, each block
 * opened once and sealed once, deltas that add up to the sealed block, and one terminal event, the last. After an
 * attempt that is void all of it begins anew.
 *
 * @throws AssertionError saying what is broken.
 */
export function checkEvents(events: readonly ModelEvent[]): ReadTurn {
  const open = new Map<number, { readonly type: string; text: string }>();
  const sealed = new Map<number, Block>();
  let started = false;
  let next = 0;
  let result: ReadTurn | undefined;
  for (const event of events) {
    assert.equal(result, undefined, `"${event.type}" came after the terminal event`);
    if (event.type === "attempt") {
      assert.equal(
        event.discard === true,
        started,
        "an attempt that had started is void, and only such a one",
      );
      started = false;
      next = 0;
      open.clear();
      sealed.clear();
      continue;
    }
    assert.equal(
      event.type === "start",
      !started,
      `"${event.type}" ${started ? "came again" : "came before start"}`,
    );
    started = true;
    switch (event.type) {
      case "block.start":
        assert.equal(event.index, next, "indexes have to rise by one");
        next++;
        open.set(event.index, { type: event.block.type, text: "" });
        break;
      case "text.delta":
      case "thinking.delta":
      case "tool.delta": {
        const block = open.get(event.index);
        assert.ok(block !== undefined, `a delta for block ${event.index}, which is not open`);
        block.text += event.delta;
        break;
      }
      case "block.end": {
        const block = open.get(event.index);
        assert.ok(block !== undefined, `block ${event.index} was sealed without being open`);
        checkSealed(event.block, block);
        open.delete(event.index);
        sealed.set(event.index, event.block);
        break;
      }
      case "finish":
        result = { events, message: event.message, error: undefined };
        break;
      case "error":
        result = { events, message: event.partial, error: event.error };
        break;
      default:
    }
  }
  assert.ok(result !== undefined, "the stream ended without a terminal event");
  assert.deepEqual([...open.keys()], [], "blocks were left open");
  checkMessage(result, sealed);
  return result;
}

/** @param was the block as it was opened, with what its deltas add up to */
function checkSealed(block: Block, was: { readonly type: string; readonly text: string }): void {
  assert.equal(block.type, was.type, "a block was sealed as another type");
  const text = streamed(block);
  if (text !== undefined && was.text !== "")
    assert.equal(text, was.text, "the deltas do not add up to the sealed block");
  if (block.type === "toolCall")
    assert.equal(
      block.args === undefined,
      block.argsError !== undefined,
      "a call has either arguments or an error",
    );
}

function checkMessage({ message, error }: ReadTurn, sealed: ReadonlyMap<number, Block>): void {
  assert.deepEqual(
    message.content,
    [...sealed.entries()].sort(([a], [b]) => a - b).map(([, block]) => block),
    "the message is not made of the sealed blocks",
  );
  if (error === undefined && message.stopReason === "tool_use")
    assert.ok(
      message.content.some((block) => block.type === "toolCall"),
      "tool_use without a call",
    );
}

/** Reads a stream to its end and checks it. */
export async function readTurn(stream: AsyncIterable<ModelEvent>): Promise<ReadTurn> {
  const events: ModelEvent[] = [];
  for await (const event of stream) events.push(event);
  return checkEvents(events);
}
