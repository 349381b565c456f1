import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { JsonValue } from "../json.ts";
import { compileJsonSchema } from "./json-schema.ts";

const issues = async (schema: JsonValue, value: unknown): Promise<string[]> => {
  const check = await compileJsonSchema(schema);
  return check(value).map((issue) => `${issue.path} ${issue.message}`);
};

describe("compileJsonSchema", async () => {
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
    [{ pattern: "^a+$" }, ["aa", 5], ["ab"]],
    [{ pattern: "(" }, ["anything"], []],
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
  ])("%j", async (schema, good, bad) => {
    const check = await compileJsonSchema(schema);
    for (const value of good) expect([value, check(value)]).toEqual([value, []]);
    for (const value of bad) expect([value, check(value).length > 0]).toEqual([value, true]);
  });

  it("says where and what, in terms a model can act on", async () => {
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
      "/wenn is not a known property; there are to, when",
    ]);
  });

  it("reports the alternative that came furthest", async () => {
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

  it("follows references into themselves, and ignores those that lead elsewhere", async () => {
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
    expect(await issues({ $defs: { a: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" }, 1)).toEqual([
      " cannot be checked: the schema asks for too much work",
    ]);
  });

  it("bounds what it says about hostile input", async () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, 1]));
    expect(await issues({ additionalProperties: { type: "string" } }, many)).toHaveLength(12);
  });

  it("agrees with zod about what fits", async () => {
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
    const check = await compileJsonSchema(json);
    const field = fc.oneof(
      fc.string(),
      fc.integer({ min: -5, max: 200 }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constant(null),
      fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 4 }),
      fc.record({ city: fc.oneof(fc.string(), fc.integer()) }),
    );
    const value = fc.dictionary(fc.constantFrom("name", "age", "tags", "where", "other"), field);
    fc.assert(
      fc.property(value, (given) => {
        // Not through JSON, as tool arguments are: what fast-check makes may hold -0 and a null prototype.
        const plain: JsonValue = JSON.parse(JSON.stringify(given));
        expect([plain, check(plain).length === 0]).toEqual([plain, schema.safeParse(plain).success]);
      }),
      { numRuns: 2_000 },
    );
  });

  it("follows a reference for each value it stands at, also where only its answer counts", async () => {
    const item = { type: "array", contains: { $ref: "#/$defs/leaf" } };
    const schema = {
      $defs: {
        leaf: { anyOf: [{ const: "x" }, { type: "array", contains: { $ref: "#/$defs/leaf" }, minItems: 1 }] },
      },
      ...item,
    };
    const check = await compileJsonSchema(schema);
    expect(check(["x"])).toEqual([]);
    expect(check([["x"]])).toEqual([]);
    expect(check([["y"]])).not.toEqual([]);
    expect(check([[["y"], "z"]])).not.toEqual([]);
    const not = await compileJsonSchema({
      $defs: { a: { properties: { in: { not: { $ref: "#/$defs/a" } } }, required: ["n"] } },
      $ref: "#/$defs/a",
    });
    expect(not({ n: 1, in: {} })).toEqual([]);
    expect(not({ n: 1, in: { n: 1 } })).toMatchObject([{ path: "/in" }]);
  });

  it("ends, whatever references lead to", async () => {
    const $defs: Record<string, JsonValue> = { a40: { type: "string" } };
    for (let i = 0; i < 40; i++)
      $defs[`a${i}`] = { allOf: [{ $ref: `#/$defs/a${i + 1}` }, { $ref: `#/$defs/a${i + 1}` }] };
    const endless = await compileJsonSchema({ $defs, $ref: "#/$defs/a0" });
    expect(endless("x")).toMatchObject([{ message: "cannot be checked: the schema asks for too much work" }]);
    const check = await compileJsonSchema({ $defs, $ref: "#/$defs/a30" });
    for (let i = 0; i < 200; i++) expect(check("x")).toEqual([]);
  });

  const twice = (levels: number, leaf: JsonValue): JsonValue => {
    const $defs: Record<string, JsonValue> = { a0: leaf };
    for (let i = 1; i <= levels; i++) {
      const $ref = `#/$defs/a${i - 1}`;
      $defs[`a${i}`] = { allOf: [{ $ref }, { $ref }] };
    }
    return { $defs, $ref: `#/$defs/a${levels}` };
  };

  it.each<[string, JsonValue, unknown]>([
    ["many entries", { items: { type: "number" } }, Array(5_000).fill(1)],
    ["lists", { uniqueItems: true, const: [] }, Array.from({ length: 128 }, (_, at) => ({ at }))],
    ["a long enum", { enum: Array.from({ length: 2_000 }, (_, at) => ({ at })) }, { at: 1_999 }],
    ["many names", { patternProperties: { "a*a*b": false } }, { ["a".repeat(255)]: 1 }],
    ["many properties", { required: Array.from({ length: 2_000 }, (_, at) => `p${at}`) }, {}],
  ])("ends where %s are looked at again and again", async (_what, leaf, value) => {
    const check = await compileJsonSchema(twice(16, leaf));
    expect(check(value)).toMatchObject([{ message: "cannot be checked: the schema asks for too much work" }]);
  });

  it("leaves patterns alone that are matched again and again", async () => {
    const check = await compileJsonSchema(twice(16, { pattern: "^a*a*a*b" }));
    expect(check("a".repeat(256)).length).toBeGreaterThan(0);
    const allOf = Array.from({ length: 500 }, (_, at) => ({ pattern: `^a*a*a*${at}` }));
    const strings = await compileJsonSchema({ items: { allOf } });
    expect(strings(Array(200).fill("a".repeat(256))).length).toBeGreaterThan(0);
  });

  it("does not compare every entry of a long list with every other", async () => {
    const check = await compileJsonSchema({ uniqueItems: true });
    expect(check(Array(128).fill(1))).toHaveLength(1);
    expect(check(Array(129).fill(1))).toEqual([]);
    const rows = await compileJsonSchema({ items: { properties: { tags: { uniqueItems: true } } } });
    const many = Array.from({ length: 1_000 }, () => ({ tags: ["a", "b"] }));
    expect(rows(many)).toEqual([]);
    expect(rows([...many, { tags: ["a", "a"] }])).toMatchObject([{ path: "/1000/tags" }]);
  });

  it("matches every text of a long list against a pattern that a person would write", async () => {
    const pattern = "^[\\w.+-]+@[\\w-]+\\.[a-z]{2,}$";
    const check = await compileJsonSchema({
      items: { type: "string", pattern, minLength: 1 },
      uniqueItems: true,
    });
    const addresses = Array.from(
      { length: 1_000 },
      (_, at) => `somebody.with.a.longer.name.${at}@example.org`,
    );
    expect(check(addresses)).toEqual([]);
    expect(check([...addresses, "nobody"])).toMatchObject([{ path: "/1000" }]);
  });

  it("takes a percent sign in a reference that encodes nothing for itself", async () => {
    const check = await compileJsonSchema({ $defs: { "100%": { type: "string" } }, $ref: "#/$defs/100%" });
    expect(check("x")).toEqual([]);
    expect(check(1)).not.toEqual([]);
  });
});
