import { expect, it } from "vitest";
import { objectAt, objectsAt, parsePayload, textAt, timeAt, toJson } from "../index.ts";

it("reads values of payloads of any shape", () => {
  const payload = parsePayload('{"a":{"b":"x"},"list":[{"c":1},2,null],"empty":"","half":"\\ud83d"}') ?? {};
  expect(textAt(objectAt(payload, "a"), "b")).toBe("x");
  expect(objectAt(payload, "list")).toEqual({});
  expect(objectsAt(payload, "list")).toEqual([{ c: 1 }]);
  expect(textAt(payload, "empty")).toBeUndefined();
  expect(textAt(payload, "half")).toBe("\ufffd");
  expect([parsePayload("[]"), parsePayload("{")]).toEqual([undefined, undefined]);
});

it("reads times in seconds, milliseconds and microseconds", () => {
  for (const time of [1_767_225_600, "1767225600000", 1_767_225_600_000_000])
    expect(timeAt({ time }, "time")).toBe(1_767_225_600_000);
  for (const time of [0, -1, "soon", "", null, 1e30]) expect(timeAt({ time }, "time")).toBeUndefined();
});

it("drops values that JSON cannot represent, and deep nesting", () => {
  expect(toJson({ a: [1, undefined, () => {}], b: Number })).toEqual({ a: [1, null, null], b: null });
  let deep: unknown = 1;
  for (let depth = 0; depth < 10_000; depth += 1) deep = [deep];
  expect(JSON.stringify(toJson(deep)).length).toBeLessThan(100);
});
