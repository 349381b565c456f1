import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool } from "../define-tool.ts";
import type { JsonObject } from "../json.ts";
import { coerceArguments } from "./coerce.ts";
import { checkArguments } from "./tool-set.ts";

const schema: JsonObject = {
  type: "object",
  properties: {
    path: { type: "string" },
    offset: { type: "integer", minimum: 1 },
    ratio: { type: "number" },
    on: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    where: { type: "object", properties: { id: { type: "integer" } } },
    either: { type: ["string", "number"] },
    maybe: { anyOf: [{ type: "integer" }, { type: "null" }] },
    any: {},
    order: { type: "string", enum: ["asc", "desc"] },
    place: { $ref: "#/$defs/place" },
    stops: { type: "array", items: { $ref: "#/$defs/place" } },
  },
  required: ["path"],
  $defs: { place: { type: "object", properties: { id: { type: "integer" } } } },
};

describe("coerceArguments", () => {
  it.each([
    [{ offset: "2" }, { offset: 2 }],
    [{ ratio: "-1.5e3" }, { ratio: -1_500 }],
    [{ on: "true" }, { on: true }],
    [{ tags: '["a","b"]' }, { tags: ["a", "b"] }],
    [{ tags: [1, "b"] }, { tags: ["1", "b"] }],
    [{ where: '{"id":"7"}' }, { where: { id: 7 } }],
    [{ path: 7 }, { path: "7" }],
    [{ path: "a", offset: null }, { path: "a" }],
    [{ maybe: "3" }, { maybe: 3 }],
    [{ on: "True" }, { on: true }],
    [{ path: true }, { path: "true" }],
    [{ tags: "a" }, { tags: ["a"] }],
    [{ place: '{"id":"7"}' }, { place: { id: 7 } }],
    [{ stops: { id: "7" } }, { stops: [{ id: 7 }] }],
    [{ offset: "", on: "null", tags: "None", order: "" }, {}],
    [{ maybe: "" }, {}],
    [{ arguments: { path: "a", offset: "2" } }, { path: "a", offset: 2 }],
    [{ params: '{"path":"a"}' }, { path: "a" }],
  ] as const)("converts %j to %j", (given, meant) => {
    expect(coerceArguments(schema, given as JsonObject)).toEqual(meant);
  });

  it.each([
    { offset: "2.5" },
    { offset: "two" },
    { offset: "0x10" },
    { on: "yes" },
    { on: 1 },
    { tags: "a, b" },
    { tags: '{"a":1}' },
    { either: "7" },
    { any: "7" },
    { path: null },
    { maybe: null },
    { unknown: "7" },
    { path: "" },
    { order: "ASC" },
    { input: { other: 1 } },
    { arguments: { path: "a" }, path: "b" },
  ])("keeps %j, which is ambiguous", (args) => {
    expect(coerceArguments(schema, args)).toBe(args);
  });
});

describe("checkArguments", () => {
  const tool = defineTool({ name: "read", description: "Reads.", input: schema, execute: () => "" });

  it("converts arguments with an obvious meaning", async () => {
    expect(await checkArguments(tool, { path: "a", offset: "2", tags: '["x"]', on: null })).toEqual({
      args: { path: "a", offset: 2, tags: ["x"] },
    });
  });

  it("does not change valid arguments", async () => {
    const args = { path: "7", either: "7", any: "true" };
    expect(await checkArguments(tool, args)).toEqual({ args });
  });

  it("reports problems in the model's own arguments", async () => {
    expect(await checkArguments(tool, { path: "a", offset: "0" })).toMatchObject({
      problems: expect.stringContaining("/offset"),
    });
  });

  it("converts them for a Standard Schema too", async () => {
    const input = z.object({ n: z.number(), note: z.string().optional() });
    const counts = defineTool({ name: "count", description: "Counts.", input, execute: () => "" });
    expect(await checkArguments(counts, { n: "3", note: null })).toEqual({ args: { n: 3 } });
  });
});
