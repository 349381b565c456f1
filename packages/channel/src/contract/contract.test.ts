import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import {
  type Channel,
  type ChannelDefinition,
  ChannelError,
  createMemoryCache,
  defineChannel,
  equalInConstantTime,
  isChannelError,
  normalizeLineEnds,
  textLength,
  unlessRefused,
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
  it("asks for the methods that the capabilities claim, by types", () => {
    const plain = defineChannel({ ...base, capabilities: textOnly, create: async () => four });
    expectTypeOf(plain).toExtend<ChannelDefinition>();
    const create = async () => four;
    const edits = { ...textOnly, edit: { ownOnly: true } } as const;
    const hooks = { ...textOnly, transports: ["webhook"] } as const;
    const drafts = { ...textOnly, stream: "draft" } as const;
    const looks = { ...textOnly, delivery: { readback: true } } as const;
    // @ts-expect-error edit is claimed and not there
    defineChannel({ ...base, capabilities: edits, create });
    // @ts-expect-error webhooks are claimed and not there
    defineChannel({ ...base, capabilities: hooks, create });
    // @ts-expect-error drafts are claimed and not there
    defineChannel({ ...base, capabilities: drafts, create });
    // @ts-expect-error readback is claimed and not there
    defineChannel({ ...base, capabilities: looks, create });
    defineChannel({ ...base, capabilities: edits, create: async () => ({ ...four, edit: async () => {} }) });
  });
});

describe("ChannelError", () => {
  it("is known by its mark, also from another copy of the package", () => {
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

  it("gives way to something else where the platform would refuse the same again, and there alone", async () => {
    const refused = new ChannelError("permission", "not a member");
    const late = new ChannelError("transient", "busy");
    expect(await unlessRefused(Promise.resolve("said"), "nothing")).toBe("said");
    expect(await unlessRefused(Promise.reject(refused), "nothing")).toBe("nothing");
    await expect(unlessRefused(Promise.reject(late), "nothing")).rejects.toBe(late);
    await expect(unlessRefused(Promise.reject(new TypeError("x")), "nothing")).rejects.toThrow(TypeError);
  });
});

describe("helpers", () => {
  it("measures in each unit", () => {
    for (const [unit, length] of [
      ["utf16", 6],
      ["bytes", 11],
      ["codepoints", 5],
    ] as const) {
      expect(textLength("a你é😀b", unit)).toBe(length);
    }
    expect(textLength("\ud83d", "bytes")).toBe(Buffer.byteLength("\ud83d"));
  });

  it("makes every line end the same", () => {
    expect(normalizeLineEnds("a\r\nb\rc\u2028d\u2029e\u0085f\ng")).toBe("a\nb\nc\nd\ne\nf\ng");
  });

  it("compares texts of any lengths", () => {
    expect(equalInConstantTime("same", "same")).toBe(true);
    expect(equalInConstantTime("same", "samE")).toBe(false);
    expect(equalInConstantTime("", "longer")).toBe(false);
  });

  it("forgets what is old, and what is longest unused", async () => {
    let now = 0;
    const cache = createMemoryCache({ clock: { now: () => now, delay: async () => {} }, max: 2 });
    await cache.set("a", 1, 100);
    await cache.set("b", 2, 100);
    expect(await cache.get("a")).toBe(1);
    await cache.set("c", 3, 100);
    expect([await cache.get("a"), await cache.get("b"), await cache.get("c")]).toEqual([1, undefined, 3]);
    now = 100;
    expect(await cache.get("a")).toBeUndefined();
  });
});
