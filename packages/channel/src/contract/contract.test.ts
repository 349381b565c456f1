import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import {
  type Channel,
  type ChannelDefinition,
  ChannelError,
  catchRefusal,
  createInMemoryCache,
  defineChannel,
  equalInConstantTime,
  isChannelError,
  normalizeLineEnds,
  textLength,
} from "../index.ts";

const textOnly = {
  text: { max: 100, unit: "utf16", markup: "plain" },
  stream: "none",
  threads: "none",
  delivery: {},
  rate: [],
  transports: ["poll"],
} as const;

const base = {
  specVersion: 1,
  id: "demo",
  meta: { label: "Demo", fields: {} },
  config: z.object({ token: z.string() }),
  codec: {
    encode: (to: { id: string }) => `demo:${to.id}`,
    decode: (text: string) => ({ id: text.slice(5) }),
  },
} as const;

const four: Channel<{ id: string }> = {
  start: async () => {},
  stop: async () => {},
  health: () => ({ state: "ready" }),
  self: () => ({ id: "me" }),
  send: async () => ({ parts: [] }),
};

describe("defineChannel", () => {
  it("requires the methods of the capabilities by types", () => {
    const plain = defineChannel({ ...base, capabilities: textOnly, create: async () => four });
    expectTypeOf(plain).toExtend<ChannelDefinition>();
    const create = async () => four;
    const edits = { ...textOnly, edit: { ownOnly: true } } as const;
    const hooks = { ...textOnly, transports: ["webhook"] } as const;
    const drafts = { ...textOnly, stream: "draft" } as const;
    const looks = { ...textOnly, delivery: { readback: true } } as const;
    // @ts-expect-error `edit` is missing
    defineChannel({ ...base, capabilities: edits, create });
    // @ts-expect-error `webhook` is missing
    defineChannel({ ...base, capabilities: hooks, create });
    // @ts-expect-error `openDraft` is missing
    defineChannel({ ...base, capabilities: drafts, create });
    // @ts-expect-error `reconcile` is missing
    defineChannel({ ...base, capabilities: looks, create });
    defineChannel({ ...base, capabilities: edits, create: async () => ({ ...four, edit: async () => {} }) });
  });
});

describe("ChannelError", () => {
  it("recognizes errors of another copy of the package", () => {
    const error = new ChannelError("rate_limited", "slow", { retryAfterMs: 5, scope: "account" });
    expect(isChannelError(error)).toBe(true);
    expect(isChannelError(new Error("x"))).toBe(false);
    expect(isChannelError({ code: "auth" })).toBe(false);
    const other = Object.assign(new Error("x"), {
      code: "auth",
      [Symbol.for("signalbox.channel.error")]: true,
    });
    expect(isChannelError(other)).toBe(true);
    expect(JSON.stringify(error)).not.toContain("stack");
  });

  it("replaces only errors that are not retryable by the fallback", async () => {
    const refused = new ChannelError("permission", "not a member");
    const late = new ChannelError("transient", "busy");
    expect(await catchRefusal(Promise.resolve("said"), "nothing")).toBe("said");
    expect(await catchRefusal(Promise.reject(refused), "nothing")).toBe("nothing");
    await expect(catchRefusal(Promise.reject(late), "nothing")).rejects.toBe(late);
    await expect(catchRefusal(Promise.reject(new TypeError("x")), "nothing")).rejects.toThrow(TypeError);
  });
});

describe("helpers", () => {
  it("measures a text in each unit", () => {
    for (const [unit, length] of [
      ["utf16", 6],
      ["bytes", 11],
      ["codepoints", 5],
    ] as const) {
      expect(textLength("a你é😀b", unit)).toBe(length);
    }
    expect(textLength("\ud83d", "bytes")).toBe(Buffer.byteLength("\ud83d"));
  });

  it("normalizes all line endings", () => {
    expect(normalizeLineEnds("a\r\nb\rc\u2028d\u2029e\u0085f\ng")).toBe("a\nb\nc\nd\ne\nf\ng");
  });

  it("compares texts of any lengths", () => {
    expect(equalInConstantTime("same", "same")).toBe(true);
    expect(equalInConstantTime("same", "samE")).toBe(false);
    expect(equalInConstantTime("", "longer")).toBe(false);
  });

  it("evicts expired and least recently used entries", async () => {
    let now = 0;
    const cache = createInMemoryCache({ clock: { now: () => now, delay: async () => {} }, max: 2 });
    await cache.set("a", 1, 100);
    await cache.set("b", 2, 100);
    expect(await cache.get("a")).toBe(1);
    await cache.set("c", 3, 100);
    expect([await cache.get("a"), await cache.get("b"), await cache.get("c")]).toEqual([1, undefined, 3]);
    now = 100;
    expect(await cache.get("a")).toBeUndefined();
  });
});
