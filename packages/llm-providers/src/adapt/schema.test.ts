import type { JsonObject } from "@signalbox/agent-core";
import { describe, expect, it } from "vitest";
import { adaptSchema, renameKeys } from "./schema.ts";

const adapted = (api: string, inputSchema: JsonObject) =>
  adaptSchema(api, { name: "t", description: "Does it.", inputSchema });
const schemaFor = (api: string, inputSchema: JsonObject): JsonObject =>
  adapted(api, inputSchema).tool.inputSchema;

describe("adapting a tool's schema", () => {
  it("keeps a valid schema as it is", () => {
    const schema = {
      type: "object",
      properties: {
        path: { type: "string", description: "A path.", minLength: 1 },
        tags: { type: ["array", "null"], items: { $ref: "#/$defs/tag" } },
        any: {},
        limits: { anyOf: [{ type: "integer", exclusiveMinimum: 0 }, { type: "null" }] },
      },
      required: ["path"],
      additionalProperties: false,
      $defs: { tag: { type: "string" } },
    };
    expect(schemaFor("anthropic-messages", schema)).toEqual(schema);
    expect(schemaFor("openai-chat", schema)).toEqual(schema);
    expect(adapted("anthropic-messages", schema).properties.size).toBe(0);
  });

  it.each([
    [
      "a boolean bound of the fourth draft",
      { type: "number", minimum: 3, exclusiveMinimum: true },
      { type: "number", exclusiveMinimum: 3 },
    ],
    [
      "a boolean bound that means nothing",
      { type: "number", maximum: 3, exclusiveMaximum: false },
      { type: "number", maximum: 3 },
    ],
    ["a type that there is not", { type: "any", description: "x" }, { description: "x" }],
    ["a type of another language", { type: "int" }, { type: "integer" }],
    ["an array without items", { type: "array" }, { type: "array", items: {} }],
    [
      "a list of items",
      { type: "array", items: [{ type: "string" }] },
      { type: "array", items: { anyOf: [{ type: "string" }] } },
    ],
    [
      "properties that are null",
      { type: "object", properties: null, required: null },
      { type: "object", properties: {} },
    ],
    ["required as a word of a property", { type: "string", required: true }, { type: "string" }],
    ["an empty enum", { type: "string", enum: [] }, { type: "string" }],
  ] as const)("repairs %s", (_what, given, repaired) => {
    const wrap = (property: JsonObject): JsonObject => ({ type: "object", properties: { a: property } });
    for (const api of ["anthropic-messages", "openai-chat", "google-generative", "mistral-chat"])
      expect(schemaFor(api, wrap(given as JsonObject))).toEqual(wrap(repaired as JsonObject));
  });

  it("merges combinators at the top, and tells the model what they required", () => {
    const schema = {
      type: "object",
      properties: { a: { type: "string" } },
      anyOf: [{ required: ["a"] }, { properties: { b: { type: "string" } }, required: ["b"] }],
    };
    const { tool } = adapted("anthropic-messages", schema);
    expect(tool.inputSchema).toEqual({
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
    });
    expect(tool.description).toContain('{"anyOf":[{"required":["a"]}');
    expect(schemaFor("google-generative", schema)).toEqual(schema);
  });

  it("keeps what each of several schemas requires", () => {
    const allOf = [
      { properties: { a: { type: "string" } }, required: ["a"] },
      { properties: { b: { type: "string" } }, required: ["b"] },
    ];
    expect(schemaFor("openai-responses", { type: "object", allOf })).toMatchObject({ required: ["a", "b"] });
  });

  it("renames properties that Anthropic refuses, and back in the arguments", () => {
    const schema = {
      type: "object",
      properties: {
        $filter: { type: "string" },
        _filter: { type: "string" },
        more: {
          type: "array",
          items: { type: "object", properties: { "@id": { type: "string" } }, required: ["@id"] },
        },
      },
      required: ["$filter"],
    };
    const { tool, properties } = adapted("anthropic-messages", schema);
    const names = Object.keys(tool.inputSchema.properties as object);
    expect(names.every((name) => /^[a-zA-Z0-9_.-]{1,64}$/.test(name))).toBe(true);
    expect(new Set(names).size).toBe(3);
    const [filter = ""] = names;
    expect(tool.inputSchema).toMatchObject({
      required: [filter],
      properties: { more: { items: { properties: { _id: { type: "string" } }, required: ["_id"] } } },
    });
    expect(renameKeys({ [filter]: "x", _filter: "y", more: [{ _id: "z" }] }, properties)).toEqual({
      $filter: "x",
      _filter: "y",
      more: [{ "@id": "z" }],
    });
    expect(schemaFor("openai-chat", schema)).toEqual(schema);
  });
});
