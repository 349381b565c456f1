import { describe, expect, it } from "vitest";
import { createRedactor, environmentSecrets, redactJson } from "./index.ts";

describe("createRedactor", () => {
  const redact = createRedactor(["hunter2-secret", 'with "quotes"', "abc"]);

  it("takes known values out, also as they look inside JSON", () => {
    expect(redact("x hunter2-secret y")).toBe("x [redacted] y");
    expect(redact(JSON.stringify({ a: 'with "quotes"' }))).toBe('{"a":"[redacted]"}');
  });

  it("takes short values out where they stand by themselves, and leaves words that hold them", () => {
    expect(redact('{"pin":"abc"}, pin=abc; abc')).toBe('{"pin":"[redacted]"}, pin=[redacted]; [redacted]');
    expect(redact(JSON.stringify("refused\nabc"))).toBe('"refused\\n[redacted]"');
    expect(redact("abcdef xabc ABC 9abc")).toBe("abcdef xabc ABC 9abc");
  });

  it("takes values for what they are, not for patterns", () => {
    const odd = createRedactor(["a.b*c/d-e", "(x)", "{1}", ""]);
    expect(odd("a.b*c/d-e aXbbc/d-e (x) x {1} 1")).toBe("[redacted] aXbbc/d-e [redacted] x [redacted] 1");
  });

  it.each([
    "sk-ant-REDACTED",
    "Bearer abcdefghijklmnop",
    "xoxb-123456789012-abcdef",
    `AIza${"x".repeat(35)}`,
  ])("takes out what looks like a credential: %s", (text) => {
    expect(redact(`key ${text} end`)).toBe("key [redacted] end");
  });
});

describe("redactJson", () => {
  const redact = createRedactor(["hunter2-secret"]);

  it("redacts the texts at every depth, and leaves keys and everything else", () => {
    const value = { "hunter2-secret": [1, null, { said: "x hunter2-secret" }], ok: true };
    expect(redactJson(value, redact)).toEqual({
      "hunter2-secret": [1, null, { said: "x [redacted]" }],
      ok: true,
    });
  });

  it("gives back the very value where there is nothing to take out", () => {
    const value = { said: ["nothing"] };
    expect(redactJson(value, redact)).toBe(value);
  });
});

it("takes those values of an environment for secrets whose names say so", () => {
  const env = {
    API_KEY: "one",
    BOT_TOKEN: "two",
    DB_PASSWORD: "three",
    HOME: "/home/ann",
    UNSET_KEY: undefined,
  };
  expect(environmentSecrets(env)).toEqual(["one", "two", "three"]);
});
