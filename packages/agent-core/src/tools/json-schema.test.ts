import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { JsonValue } from "../json.ts";
import { validateJson } from "./json-schema.ts";

const issues = async (schema: JsonValue, value: unknown): Promise<string[]> => {
  const found = await validateJson(schema, value);
  return found.map((issue) => `${issue.path} ${issue.message}`);
};

const TOO_SLOW = " cannot be validated: the tool's schema takes too much time";
const TOO_COMPLEX = " cannot be validated: the tool's schema is too complex";

describe("validateJson", () => {
  it.each<[JsonValue, unknown[], unknown[]]>([
    [{ type: "string" }, ["", "x"], [1, null, [], {}]],
    [{ type: "integer" }, [0, -3, 2.0], [1.5, "1", Number.NaN]],
    [{ type: ["string", "null"] }, ["x", null], [1]],
    [{ type: "string", nullable: true }, ["x", null], [1]],
    [{ enum: ["a", 1, null, { x: 1, y: 2 }] }, ["a", 1, null, { y: 2, x: 1 }], ["b", 2, {}]],
    [{ const: [1, 2] }, [[1, 2]], [[2, 1], "1,2"]],
    [{ minimum: 1, exclusiveMaximum: 5 }, [1, 4.9, "any"], [0, 5]],
    [{ exclusiveMinimum: 0, maximum: 2 }, [0.1, 2], [0, 2.1]],
    [{ multipleOf: 0.01 }, [0.07, 1.13, 3], [0.005]],
    [{ minLength: 2, maxLength: 3 }, ["ab", "👍👍"], ["a", "👍", "abcd"]],
    [{ pattern: "^a+$" }, ["aa", 5, "a".repeat(10_000)], ["ab"]],
    [{ pattern: "(?P<year>\\d+)" }, ["anything"], []],
    [{ pattern: "^\\p{L}+$" }, ["é字"], ["1"]],
    [{ pattern: "^(?=.*\\d)[^\\]x(]+$" }, ["abc[}{1"], ["abc", "x1"]],
    [{ items: { type: "number" }, minItems: 1, maxItems: 2 }, [[1], [1, 2]], [[], ["x"], [1, 2, 3]]],
    [{ prefixItems: [{ type: "number" }], items: { type: "string" } }, [[1, "x"], []], [["x"], [1, 2]]],
    [{ items: [{ type: "number" }], additionalItems: false }, [[1], []], [[1, 2]]],
    [
      { uniqueItems: true },
      [[1, "1", { a: 1 }]],
      [
        [1, 1],
        [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      ],
    ],
    [{ contains: { type: "number" } }, [["x", 1]], [["x"], []]],
    [{ required: ["a"], properties: { a: { type: "number" } } }, [{ a: 1 }, []], [{}, { a: "x" }]],
    [{ properties: { a: {} }, additionalProperties: false }, [{ a: 1 }, {}], [{ b: 1 }]],
    [{ additionalProperties: { type: "number" } }, [{ a: 1 }], [{ a: "x" }]],
    [
      { patternProperties: { "^x": { type: "number" } }, additionalProperties: false },
      [{ x1: 1 }],
      [{ x1: "" }, { y: 1 }],
    ],
    [{ propertyNames: { maxLength: 2 } }, [{ ab: 1 }], [{ abc: 1 }]],
    [{ minProperties: 1, maxProperties: 1 }, [{ a: 1 }], [{}, { a: 1, b: 2 }]],
    [{ dependentRequired: { a: ["b"] } }, [{ a: 1, b: 2 }, { b: 1 }], [{ a: 1 }]],
    [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2], [0, 3]],
    [{ anyOf: [{ type: "string" }, { minimum: 5 }] }, ["x", 6], [1]],
    [{ oneOf: [{ minimum: 1 }, { maximum: 2 }] }, [0, 3], [1.5]],
    [{ not: { type: "string" } }, [1], ["x"]],
    [
      JSON.parse('{"if": {"minimum": 10}, "then": {"multipleOf": 10}, "else": {"maximum": 5}}'),
      [20, 5],
      [15, 6],
    ],
    [true, [1, "x", null], []],
    [false, [], [1]],
    [{ format: "email", $comment: "annotation" }, ["not an address"], []],
    [
      JSON.parse(
        '{"required": true, "properties": null, "items": null, "enum": {}, "exclusiveMinimum": true}',
      ),
      [{}, [1], 0],
      [],
    ],
    [{ type: "any", minLength: "2" }, ["x", 1], []],
    [{ patternProperties: { "(?i)^x": {} }, additionalProperties: false }, [{ xa: 1 }], []],
    [{ $defs: { "100%": { type: "string" } }, $ref: "#/$defs/100%" }, ["x"], [1]],
  ])("accepts and rejects values for %j", async (schema, good, bad) => {
    for (const value of good) expect([value, await issues(schema, value)]).toEqual([value, []]);
    for (const value of bad) expect([value, (await issues(schema, value)).length > 0]).toEqual([value, true]);
  });

  it("names the wrong value and the expected one", async () => {
    const schema = {
      type: "object",
      properties: {
        to: { type: "array", items: { type: "object", properties: { "a/b": { enum: ["x", "y"] } } } },
        when: { type: "string" },
      },
      required: ["to", "when"],
      additionalProperties: false,
    };
    expect(await issues(schema, { to: [{ "a/b": "z" }], wenn: 1 })).toEqual([
      "/when is missing",
      '/to/0/a~1b Instance does not match any of ["x","y"].',
      "/wenn is not a known property; the properties are: to, when",
    ]);
  });

  it("quotes the pattern that a text does not match", async () => {
    expect(await issues({ pattern: "^\\d{4}$" }, "26")).toEqual([" String does not match ^\\d{4}$."]);
  });

  it("reports the alternative whose failure lies deepest in the value", async () => {
    const schema = {
      anyOf: [
        { type: "string" },
        {
          type: "object",
          properties: { kind: { const: "at" }, time: { type: "number" } },
          required: ["kind"],
        },
      ],
    };
    expect(await issues(schema, { kind: "at", time: "noon" })).toEqual([
      '/time Instance type "string" is invalid. Expected "number".',
    ]);
    expect(await issues(schema, 5)).toEqual([' Instance type "number" is invalid. Expected "string".']);
  });

  it("follows recursive references and ignores references to other documents", async () => {
    const schema = {
      $ref: "#/$defs/node",
      $defs: {
        node: {
          type: "object",
          properties: { value: { type: "number" }, next: { $ref: "#/$defs/node" } },
          required: ["value"],
        },
      },
    };
    expect(await issues(schema, { value: 1, next: { value: 2, next: { value: 3 } } })).toEqual([]);
    expect(await issues(schema, { value: 1, next: { value: 2, next: {} } })).toEqual([
      "/next/next/value is missing",
    ]);
    expect(await issues({ $ref: "https://example.com/schema" }, 1)).toEqual([]);
  });

  it("follows a reference inside `contains` and `not`", async () => {
    const leaf = {
      anyOf: [{ const: "x" }, { type: "array", contains: { $ref: "#/$defs/leaf" }, minItems: 1 }],
    };
    const schema = { $defs: { leaf }, type: "array", contains: { $ref: "#/$defs/leaf" } };
    expect(await issues(schema, ["x"])).toEqual([]);
    expect(await issues(schema, [["x"]])).toEqual([]);
    expect(await issues(schema, [["y"]])).not.toEqual([]);
    expect(await issues(schema, [[["y"], "z"]])).not.toEqual([]);
    const not = {
      $defs: { a: { properties: { in: { not: { $ref: "#/$defs/a" } } }, required: ["n"] } },
      $ref: "#/$defs/a",
    };
    expect(await issues(not, { n: 1, in: {} })).toEqual([]);
    expect(await issues(not, { n: 1, in: { n: 1 } })).toMatchObject([expect.stringMatching(/^\/in /)]);
  });

  it("reports at most 12 issues", async () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, 1]));
    expect(await issues({ additionalProperties: { type: "string" } }, many)).toHaveLength(12);
  });

  it("accepts the same values as zod", async () => {
    const schema = z.strictObject({
      name: z.string().min(1),
      age: z.number().int().min(0).max(150).optional(),
      tags: z
        .array(z.enum(["a", "b"]))
        .max(3)
        .optional(),
      where: z.union([z.object({ city: z.string() }), z.null()]).optional(),
    });
    const json: JsonValue = JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io: "input" })));
    const field = fc.oneof(
      fc.string(),
      fc.integer({ min: -5, max: 200 }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constant(null),
      fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 4 }),
      fc.record({ city: fc.oneof(fc.string(), fc.integer()) }),
    );
    const value = fc.dictionary(fc.constantFrom("name", "age", "tags", "where", "other"), field);
    await fc.assert(
      fc.asyncProperty(value, async (given) => {
        // Values from fast-check may contain -0 and null prototypes. Arguments come from JSON and never do.
        const plain: JsonValue = JSON.parse(JSON.stringify(given));
        expect([plain, (await issues(json, plain)).length === 0]).toEqual([
          plain,
          schema.safeParse(plain).success,
        ]);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("validateJson with a hostile schema", () => {
  /** References whose number of paths doubles with each level. */
  const exponential = (levels: number, leaf: JsonValue): JsonValue => {
    const $defs: Record<string, JsonValue> = { a0: leaf };
    for (let i = 1; i <= levels; i++) {
      const $ref = `#/$defs/a${i - 1}`;
      $defs[`a${i}`] = { allOf: [{ $ref }, { $ref }] };
    }
    return { $defs, $ref: `#/$defs/a${levels}` };
  };

  it("rejects the value if a reference leads only to itself", async () => {
    expect(await issues({ $defs: { a: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" }, 1)).toEqual([
      TOO_COMPLEX,
    ]);
  });

  it.each<[string, JsonValue, unknown]>([
    ["exponentially many references", exponential(40, { type: "string" }), "x"],
    ["a pattern with nested repetitions", { pattern: "^(a+)+$" }, `${"a".repeat(60)}!`],
    ["a pattern with many repetitions", { pattern: `${"a*".repeat(12)}b` }, "a".repeat(256)],
    [
      "a pattern of property names",
      { patternProperties: { "^(a|a)+$": false } },
      { [`${"a".repeat(60)}!`]: 1 },
    ],
    [
      "a list whose entries are all compared",
      { uniqueItems: true },
      Array.from({ length: 200_000 }, (_, i) => i),
    ],
  ])("stops after the time limit without blocking the event loop: %s", async (_what, schema, value) => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 20);
    const hostile = issues(schema, value);
    const next = issues({ type: "string" }, 1);
    expect(await hostile).toEqual([TOO_SLOW]);
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(10);
    // The next validation waits for a new thread and is not lost with the old one.
    expect(await next).toEqual([' Instance type "number" is invalid. Expected "string".']);
  });

  it("rejects a value with more issues than can be listed", async () => {
    const value = Array.from({ length: 300_000 }, () => 1);
    expect(await issues({ items: { type: "string" } }, value)).not.toEqual([]);
    expect(await issues({ type: "string" }, "x")).toEqual([]);
  });
});
