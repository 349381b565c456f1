import type { JsonObject } from "@signalbox/agent-core";
import { expect, test } from "vitest";
import { PartialArgs } from "./partial-args.ts";

function text(pieces: readonly JsonObject[]): string {
  const args = new PartialArgs();
  args.add({ partialArgs: pieces });
  return args.text(true);
}

test.each<[string, JsonObject[]]>([
  ["{}", []],
  [
    '{"a":"xy"}',
    [
      { jsonPath: "$.a", stringValue: "x", willContinue: true },
      { jsonPath: "$.a", stringValue: "y" },
    ],
  ],
  [
    '{"a":"y"}',
    [
      { jsonPath: "$.a", stringValue: "x" },
      { jsonPath: "$.a", stringValue: "y" },
    ],
  ],
  [
    '{"a":[[1],{"b":true}],"c":null}',
    [
      { jsonPath: "$.a[0][0]", numberValue: 1 },
      { jsonPath: "$.a[1].b", boolValue: true },
      { jsonPath: "$.c", nullValue: null },
    ],
  ],
  [
    '{"a b":1,"__proto__":{"x":2}}',
    [
      { jsonPath: "$['a b']", numberValue: 1 },
      { jsonPath: "$.__proto__.x", numberValue: 2 },
    ],
  ],
])("%s", (expected, pieces) => {
  expect(text(pieces)).toBe(expected);
});

test.each([["a"], ["$"], ["$.a["], ["$.a[5]"], ["$.a[999999999]"], ["$.s.t"]])(
  "%s makes no arguments",
  (jsonPath) => {
    const broken = text([
      { jsonPath: "$.s", stringValue: "s" },
      { jsonPath, stringValue: "x" },
    ]);
    expect(() => JSON.parse(broken)).toThrow();
  },
);

test("incomplete arguments are invalid JSON", () => {
  expect(() => JSON.parse(new PartialArgs().text(false))).toThrow();
});
