import { describe, expect, it } from "vitest";
import { createCursor, createInMemoryState, type EmitResult, type Json } from "../index.ts";

function open(state = createInMemoryState()) {
  const logged: string[] = [];
  const cursor = createCursor<number>({
    state,
    key: "bot cursor",
    parse: (stored: Json) => (typeof stored === "number" ? stored : undefined),
    logger: { warn: (message) => void logged.push(message) },
  });
  return { cursor, state, logged };
}

describe("createCursor", () => {
  it("stores a position only after its event was accepted", async () => {
    const { cursor, state } = open();
    expect(await cursor.load()).toBeUndefined();
    const emitted = Promise.withResolvers<EmitResult>();
    const advanced = cursor.advance(1, () => emitted.promise);
    expect(await state.get("bot cursor")).toBeUndefined();
    emitted.resolve("accepted");
    expect(await advanced).toBe("accepted");
    expect(await state.get("bot cursor")).toBe(1);
    expect(await open(state).cursor.load()).toBe(1);
  });

  it("handles events in order, and none after a rejected one until it is loaded again", async () => {
    const { cursor, state } = open();
    const handled: number[] = [];
    const take = (position: number, result: EmitResult = "accepted") =>
      cursor.advance(position, async () => {
        handled.push(position);
        return result;
      });
    expect(await Promise.all([take(1), take(2, "rejected"), take(3)])).toEqual([
      "accepted",
      "rejected",
      "rejected",
    ]);
    expect(handled).toEqual([1, 2]);
    expect(await state.get("bot cursor")).toBe(1);
    expect(await cursor.load()).toBe(1);
    await take(2);
    expect(await state.get("bot cursor")).toBe(2);
  });

  it("treats a failed emit as rejected", async () => {
    const { cursor, state, logged } = open();
    expect(await cursor.advance(1, () => Promise.reject(new Error("the disk is full")))).toBe("rejected");
    expect(await state.get("bot cursor")).toBeUndefined();
    expect(logged).toHaveLength(1);
  });

  it("skips an event that was not emitted, and ignores a stored position that is invalid", async () => {
    const { cursor, state } = open();
    expect(await cursor.advance(4, async () => "ignored")).toBe("ignored");
    expect(await state.get("bot cursor")).toBe(4);
    await state.set("bot cursor", "damaged");
    expect(await cursor.load()).toBeUndefined();
  });

  it("continues if the position cannot be stored", async () => {
    const state = { ...createInMemoryState(), set: () => Promise.reject(new Error("the disk is full")) };
    const { cursor, logged } = open(state);
    expect(await cursor.advance(1, async () => "accepted")).toBe("accepted");
    expect(logged).toEqual(["the position could not be stored; events may be read again"]);
  });

  it("can be loaded and advanced after work or the state threw synchronously", async () => {
    const stored = createInMemoryState();
    let isFull = true;
    const set: typeof stored.set = (key, value) => {
      if (isFull) throw new Error("the disk is full");
      return stored.set(key, value);
    };
    const { cursor, logged } = open({ ...stored, set });
    const throws = (): Promise<EmitResult> => {
      throw new Error("a defect");
    };
    expect(await cursor.advance(1, throws)).toBe("rejected");
    expect(await cursor.load()).toBeUndefined();
    expect(await cursor.advance(1, async () => "accepted")).toBe("accepted");
    isFull = false;
    expect(await cursor.advance(2, async () => "accepted")).toBe("accepted");
    expect(await cursor.load()).toBe(2);
    expect(logged).toHaveLength(2);
  });
});
