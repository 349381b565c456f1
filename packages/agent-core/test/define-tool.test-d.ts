import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../src/define-tool.ts";
import type { JsonValue } from "../src/json.ts";
import type { Tool } from "../src/tool.ts";

const base = { name: "t", description: "A tool." };

test("arguments have the output type of a Standard Schema", () => {
  const tool = defineTool({
    ...base,
    input: z.object({
      city: z.string(),
      days: z.number().default(1),
      at: z.string().transform((at) => new Date(at)),
    }),
    execute(args) {
      expectTypeOf(args).toEqualTypeOf<{ city: string; days: number; at: Date }>();
      return args.city;
    },
  });
  expectTypeOf(tool).toExtend<Tool>();
});

test("arguments have the type that a literal JSON Schema describes", () => {
  defineTool({
    ...base,
    input: {
      type: "object",
      properties: {
        city: { type: "string" },
        unit: { enum: ["c", "f"] },
        days: { type: "array", items: { type: "integer" } },
        near: { type: "object", properties: { km: { type: "number" } }, required: ["km"] },
        any: {},
      },
      required: ["city"],
    },
    execute(args) {
      expectTypeOf(args.city).toEqualTypeOf<string>();
      expectTypeOf(args.unit).toEqualTypeOf<"c" | "f" | undefined>();
      expectTypeOf(args.days).toEqualTypeOf<readonly number[] | undefined>();
      expectTypeOf(args.near?.km).toEqualTypeOf<number | undefined>();
      expectTypeOf(args.any).toEqualTypeOf<JsonValue | undefined>();
      // @ts-expect-error there is no such property
      args.town;
      return args.city;
    },
  });
});

test("a tool returns a text, JSON or a result, directly or as a promise", () => {
  const input = { type: "object" } as const;
  defineTool({ ...base, input, execute: () => "done" });
  defineTool({ ...base, input, execute: async () => "done" });
  const tool = defineTool({
    ...base,
    input,
    execute: async (_args, { signal, callId }) => {
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      expectTypeOf(callId).toEqualTypeOf<string>();
      return { content: [], details: { count: 1 } };
    },
  });
  expectTypeOf(tool).toExtend<Tool<unknown, { count: number }>>();
  defineTool({ ...base, input, execute: () => ({ city: "Oslo", celsius: 21 }) });
  defineTool({ ...base, input, execute: () => [1, null] });
  // @ts-expect-error a function is not JSON
  defineTool({ ...base, input, execute: () => () => 1 });
});
