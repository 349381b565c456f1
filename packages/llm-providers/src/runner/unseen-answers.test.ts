import { describe, expect, it } from "vitest";
import { context, kinds, model, type Play, stage } from "../../test/support/stage.ts";
import { readTurn } from "../testkit/index.ts";

describe("an attempt that failed after some text", () => {
  const broke: Play = {
    fail: "network",
    after: "so far",
    usage: {
      input: { total: 7, uncached: 7, cacheRead: undefined, cacheWrite: undefined },
      output: { total: 2, reasoning: undefined },
      source: "reported",
      costMicros: 11,
    },
  };
  const unseen = { shown: () => false };

  it("is repeated if nobody has seen its text, which is discarded", async () => {
    const { runner, seen, slept } = stage([broke, { say: "again" }], { a: ["1"] });
    const { events, message } = await readTurn(runner.stream(model("a"), context, unseen));
    expect(events.map((event) => event.type)).toEqual([
      "start",
      "block.start",
      "text.delta",
      "usage",
      "block.end",
      "attempt",
      "start",
      "block.start",
      "text.delta",
      "block.end",
      "finish",
    ]);
    expect(events.find((event) => event.type === "attempt")).toMatchObject({
      discard: true,
      failure: { code: "network", usage: { costMicros: 11 } },
      next: { kind: "retry" },
    });
    expect(message.content).toEqual([{ type: "text", text: "again" }]);
    expect(seen).toHaveLength(2);
    expect(slept).toEqual([375]);
  });

  it("is followed by other models, and the error lists all attempts", async () => {
    const { runner, seen } = stage([broke, { fail: "timeout", after: "hm" }, broke, broke, broke], {
      a: ["1"],
      b: ["2"],
    });
    const stream = runner.withFallbacks([model("b")]);
    const turn = await readTurn(stream(model("a"), context, unseen));
    expect(kinds(turn.events)).toEqual(["network>retry", "timeout>model", "network>retry", "network>retry"]);
    expect(turn.error).toMatchObject({ code: "network", emitted: true });
    expect(turn.error?.attempts).toHaveLength(5);
    expect(turn.message.error?.attempts).toHaveLength(5);
    expect(seen).toEqual(["a/m 1", "a/m 1", "b/m 2", "b/m 2", "b/m 2"]);
  });

  it("is final if its text was seen, or if that is unknown", async () => {
    let seenByNow = false;
    const shown = [
      () => true,
      () => seenByNow,
      () => {
        throw new Error("who knows");
      },
    ];
    for (const one of shown) {
      const { runner, seen } = stage([broke, { say: "again" }], { a: ["1"] });
      const types: string[] = [];
      seenByNow = false;
      for await (const event of runner.stream(model("a"), context, { shown: one })) {
        types.push(event.type);
        if (event.type === "text.delta") seenByNow = true;
      }
      expect(types.at(-1)).toBe("error");
      expect(seen).toHaveLength(1);
    }
  });

  it("is not repeated if that cannot succeed", async () => {
    for (const fail of ["aborted", "overflow"] as const) {
      const { runner, seen } = stage([{ fail, after: "so far" }, { say: "again" }], { a: ["1"] });
      const turn = await readTurn(runner.stream(model("a"), context, unseen));
      expect(turn.error?.code).toBe(fail);
      expect(seen).toHaveLength(1);
    }
  });

  it("resolves several waiting calls in order", async () => {
    const { runner } = stage([broke, { say: "again" }], { a: ["1"] });
    const stream = runner.stream(model("a"), context, unseen)[Symbol.asyncIterator]();
    const results = await Promise.all(Array.from({ length: 13 }, () => stream.next()));
    expect(results.map((result) => (result.done ? "done" : result.value.type)).slice(5)).toEqual([
      "attempt",
      "start",
      "block.start",
      "text.delta",
      "block.end",
      "finish",
      "done",
      "done",
    ]);
  });

  it("stops when it is left", async () => {
    const { runner, seen } = stage([broke, { say: "never" }], { a: ["1"] });
    for await (const event of runner.stream(model("a"), context, unseen)) if (event.type === "attempt") break;
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toHaveLength(1);
  });
});
