import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRouter } from "./router.ts";
import { escapeId, formatSessionKey, parseSessionKey, type SessionKeyParts } from "./session-key.ts";
import type { DmScope, RouteInput } from "./types.ts";

const base = { agents: ["coder"], defaultAgent: "coder", bindings: [] };

function getKey(input: Partial<RouteInput>, dmScope: DmScope, identityLinks = {}): string {
  const message: RouteInput = {
    channel: "telegram",
    account: "main",
    peer: { kind: "direct", id: "123" },
    ...input,
  };
  return createRouter({ ...base, dmScope, identityLinks }).resolve(message).sessionKey;
}

describe("session keys", () => {
  it.each<[DmScope, string]>([
    ["main", "agent:coder:main"],
    ["per-peer", "agent:coder:direct:123"],
    ["per-channel-peer", "agent:coder:telegram:direct:123"],
    ["per-account-channel-peer", "agent:coder:telegram:main:direct:123"],
  ])("of direct messages under %s", (scope, key) => {
    expect(getKey({}, scope)).toBe(key);
  });

  it("separate people and channels by default", () => {
    const message = { channel: "telegram", account: "main", peer: { kind: "direct", id: "123" } } as const;
    expect(createRouter(base).resolve(message).sessionKey).toBe("agent:coder:telegram:direct:123");
  });

  it("separate groups and channels of each account, in every scope", () => {
    for (const scope of ["main", "per-peer", "per-channel-peer", "per-account-channel-peer"] as const) {
      expect(getKey({ peer: { kind: "group", id: "-100" } }, scope)).toBe(
        "agent:coder:telegram:main:group:-100",
      );
      expect(getKey({ peer: { kind: "channel", id: "C1" } }, scope)).toBe(
        "agent:coder:telegram:main:channel:C1",
      );
    }
  });

  it("contain the thread, unless the thread is itself the conversation", () => {
    const channel = { kind: "channel", id: "C1" } as const;
    expect(getKey({ peer: channel, threadId: "1712.5" }, "main")).toBe(
      "agent:coder:telegram:main:channel:C1:thread:1712.5",
    );
    expect(getKey({ peer: channel, threadId: "C1" }, "main")).toBe("agent:coder:telegram:main:channel:C1");
    expect(getKey({ threadId: "7" }, "per-channel-peer")).toBe("agent:coder:telegram:direct:123:thread:7");
    expect(getKey({ threadId: "7" }, "main")).toBe("agent:coder:main");
  });
});

describe("identity links", () => {
  const links = { alice: ["telegram:123", "feishu:ou_1", "slack:U:1"] };
  const on = (channel: string, id: string) => ({ channel, peer: { kind: "direct", id } }) as const;

  it("join one person's direct messages on all channels in one session", () => {
    for (const scope of ["per-peer", "per-channel-peer", "per-account-channel-peer"] as const) {
      for (const message of [on("telegram", "123"), on("feishu", "ou_1"), on("slack", "U:1")]) {
        expect(getKey(message, scope, links)).toBe("agent:coder:direct:alice");
      }
    }
    expect(getKey(on("feishu", "ou_1"), "main", links)).toBe("agent:coder:main");
  });

  it("do not affect other people and groups", () => {
    expect(getKey(on("feishu", "123"), "per-channel-peer", links)).toBe("agent:coder:feishu:direct:123");
    expect(getKey({ peer: { kind: "group", id: "123" } }, "per-peer", links)).toBe(
      "agent:coder:telegram:main:group:123",
    );
  });

  it("assign an id that is listed twice to the first name", () => {
    const twice = { alice: ["telegram:1"], bob: ["telegram:1", "telegram:2"] };
    expect(getKey(on("telegram", "1"), "per-peer", twice)).toBe("agent:coder:direct:alice");
    expect(getKey(on("telegram", "2"), "per-peer", twice)).toBe("agent:coder:direct:bob");
  });

  it("prevent impersonation by an id that equals a linked name", () => {
    const stranger = getKey(on("web", "alice"), "per-peer", links);
    expect(stranger).toBe("agent:coder:direct:%~alice");
    expect(stranger).not.toBe(getKey(on("telegram", "123"), "per-peer", links));
    expect(getKey(on("web", "%~alice"), "per-peer", links)).not.toBe(stranger);
  });
});

describe("formatSessionKey", () => {
  const id = fc.oneof(
    fc.constantFrom(
      "",
      ":",
      "%",
      "%3A",
      "%~",
      "main",
      "direct",
      "group",
      "channel",
      "thread",
      "agent",
      "a b",
      "\n",
      "\ud83d",
      "\ude00\ud83d",
      "\ufffd",
      "%+D83D",
    ),
    fc.string({ unit: "binary", maxLength: 6 }),
    fc
      .array(fc.constantFrom(":", "%", "~", "direct", "thread", "3A", "x"), { maxLength: 5 })
      .map((p) => p.join("")),
  );
  const optional = { requiredKeys: [] };
  const parts: fc.Arbitrary<SessionKeyParts> = fc.oneof(
    fc.record({ kind: fc.constant("main" as const), agentId: id }),
    fc
      .tuple(
        fc.record({ kind: fc.constant("direct" as const), agentId: id, peerId: id }),
        fc.record({ threadId: id }, optional),
        fc.oneof(
          fc.constant({}),
          fc.constant({ namesake: true as const }),
          fc.record({ channel: id }),
          fc.record({ channel: id, account: id }),
        ),
      )
      .map(([a, b, c]) => ({ ...a, ...b, ...c })),
    fc
      .tuple(
        fc.record({
          kind: fc.constantFrom("group" as const, "channel" as const),
          agentId: id,
          channel: id,
          account: id,
          peerId: id,
        }),
        fc.record({ threadId: id }, optional),
      )
      .map(([a, b]) => ({ ...a, ...b })),
  );

  it("round-trips through parseSessionKey, so no two sessions share a key", () => {
    fc.assert(
      fc.property(parts, (parts) => {
        const key = formatSessionKey(parts);
        expect(key.isWellFormed()).toBe(true);
        expect(parseSessionKey(key)).toEqual(parts);
      }),
      { numRuns: 5_000 },
    );
  });

  it("does not change usual ids", () => {
    for (const plain of ["ou_881e8247625e31527b4d15a31471504c", "-1001234567890", "张三", "1712.000100"]) {
      expect(escapeId(plain)).toBe(plain);
    }
  });
});

describe("parseSessionKey", () => {
  it.each([
    "",
    "agent",
    "agent:coder",
    "agent:coder:else",
    "agent:coder:telegram:group:1",
    "agent:coder:a:b:c:direct:1",
    "agent:coder:direct:1:thread",
    "agent:coder:telegram:direct:%~1",
    "agent:coder:direct:%41",
    "agent:coder:direct:%3a",
    "agent:coder:direct:a b",
    "session:coder:main",
  ])("rejects %j", (key) => {
    expect(parseSessionKey(key)).toBeUndefined();
  });

  it("accepts any text without throwing", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const key = `agent:${text}`;
        const parts = parseSessionKey(key);
        if (parts !== undefined) expect(formatSessionKey(parts)).toBe(key);
      }),
    );
  });
});
