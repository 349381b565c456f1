import type { StandardSchemaV1 } from "@standard-schema/spec";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { tool } from "../../test/scripted.ts";
import type { Tool } from "../tool.ts";
import { getToolSpec, ToolSet } from "./tool-set.ts";

describe("getToolSpec", () => {
  it("describes the input of the schema, not its output", () => {
    const inputSchema = z.object({
      n: z.number().default(1),
      when: z.string().transform((text) => new Date(text)),
    });
    expect(getToolSpec(tool("t", "", { inputSchema }))).toEqual({
      name: "t",
      description: "Test tool t.",
      inputSchema: {
        type: "object",
        properties: { n: { type: "number", default: 1 }, when: { type: "string" } },
        required: ["when"],
      },
    });
  });

  it("returns the same object for the same tool", () => {
    const inputSchema = z.object({});
    expect(getToolSpec(tool("t", "", { inputSchema }))).toBe(getToolSpec(tool("t", "", { inputSchema })));
  });

  it("rejects a tool that cannot be described to a model", () => {
    const bare: StandardSchemaV1<unknown, unknown> = {
      "~standard": { version: 1, vendor: "bare", validate: (value) => ({ value }) },
    };
    for (const inputSchema of [
      bare,
      z.string(),
      z.object({ f: z.custom(() => true), d: z.date() }),
      { type: "array" },
    ]) {
      expect(() => getToolSpec(tool("t", "", { inputSchema }))).toThrow(
        expect.objectContaining({ code: "invalid_tool" }),
      );
    }
  });

  it("accepts schemas that are functions", () => {
    const callable: Tool["inputSchema"] = Object.assign(() => {}, z.object({ a: z.string() }), {
      "~standard": z.object({ a: z.string() })["~standard"],
    });
    expect(getToolSpec(tool("t", "", { inputSchema: callable })).inputSchema.required).toEqual(["a"]);
  });
});

describe("ToolSet", () => {
  it("rejects two tools with the same name", () => {
    expect(() => new ToolSet([tool("t", ""), tool("t", "")])).toThrow(/Two tools are called "t"/);
  });

  it.each(["", "a.b", "multi tool", "名", "x".repeat(65), "a\n"])(
    "refuses a name that vendors refuse: %j",
    (name) => {
      const refused = expect.objectContaining({
        code: "invalid_tool",
        message: expect.stringContaining(name),
      });
      expect(() => new ToolSet([tool(name, "")])).toThrow(refused);
      expect(() => new ToolSet([tool("x".repeat(64), ""), tool("Az_-09", "")])).not.toThrow();
    },
  );

  it.each([300, 100_000])("rejects a schema of %i levels", (levels) => {
    const text = `${'{"type":"object","not":'.repeat(levels)}{}${"}".repeat(levels)}`;
    const refused = expect.objectContaining({ code: "invalid_tool" });
    expect(() => new ToolSet([tool("t", "", { inputSchema: JSON.parse(text) })])).toThrow(refused);
  });
});
