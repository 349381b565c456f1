import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { createLogger, createRedactor } from "./log.ts";

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

describe("createLogger", () => {
  it("redacts every line it writes, fields and errors included", async () => {
    const stream = new PassThrough().setEncoding("utf8");
    let text = "";
    stream.on("data", (chunk: string) => {
      text += chunk;
    });
    const logger = createLogger("info", createRedactor(["hunter2-secret"]), stream);
    logger.info({ url: "https://x/?k=hunter2-secret" }, "called");
    logger.child({ token: "hunter2-secret" }).error(new Error("refused hunter2-secret"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(text).not.toContain("hunter2");
    expect(text.match(/\[redacted\]/g)?.length).toBeGreaterThanOrEqual(3);
  });
});
