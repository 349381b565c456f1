import { describe, expect, it } from "vitest";
import { createAuth } from "./auth.ts";
import { hostsOf, isLoopback, sameOrigin } from "./origin.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";

function cookieOf(setCookie: string): string {
  return setCookie.split(";")[0] ?? "";
}

describe("createAuth", () => {
  it("lets the token in and nothing else", () => {
    const auth = createAuth(TOKEN);
    expect(auth.check({ authorization: `Bearer ${TOKEN}` }, "a").kind).toBe("owner");
    for (const authorization of [
      undefined,
      "",
      "Bearer",
      `Basic ${TOKEN}`,
      `Bearer ${TOKEN}x`,
      `Bearer ${TOKEN.slice(1)}`,
    ]) {
      expect(auth.check({ authorization }, "b").kind).toBe("refused");
    }
  });

  it("keeps a browser signed in by an HttpOnly cookie that ends with the token or with time", () => {
    let now = 1_000_000;
    const auth = createAuth(TOKEN, () => now);
    const setCookie = auth.cookie();
    expect(setCookie).toMatch(/HttpOnly; SameSite=Strict; Path=\//);
    expect(setCookie).not.toContain(TOKEN);
    const cookie = cookieOf(setCookie);
    expect(auth.check({ cookie: `other=1; ${cookie}` }, "a").kind).toBe("owner");
    expect(createAuth(`${TOKEN}2`, () => now).check({ cookie }, "a").kind).toBe("refused");
    expect(auth.check({ cookie: cookie.replace(/=\d/, "=9") }, "a").kind).toBe("refused");
    now += 31 * 24 * 3_600_000;
    expect(auth.check({ cookie }, "a").kind).toBe("refused");
  });

  it("throttles guesses by address, and lets the right one pass all the same", () => {
    let now = 0;
    const auth = createAuth(TOKEN, () => now);
    for (let guess = 0; guess < 10; guess++)
      expect(auth.signIn(`guess ${guess}`, "127.0.0.1").kind).toBe("refused");
    expect(auth.signIn("guess 11", "127.0.0.1")).toMatchObject({ kind: "throttled", retryAfterMs: 60_000 });
    expect(auth.check({ authorization: "Bearer guess" }, "127.0.0.1").kind).toBe("throttled");
    expect(auth.signIn(TOKEN, "127.0.0.1").kind).toBe("owner");
    expect(auth.check({ authorization: `Bearer ${TOKEN}` }, "127.0.0.1").kind).toBe("owner");
    expect(auth.signIn("guess 12", "127.0.0.1").kind).toBe("throttled");
    expect(auth.signIn("guess 13", "127.0.0.2").kind).toBe("refused");
    now += 60_001;
    expect(auth.signIn("guess 14", "127.0.0.1").kind).toBe("refused");
  });
});

describe("sameOrigin", () => {
  const hosts = hostsOf("127.0.0.1", ["Gateway.example"]);
  it.each([
    [{ host: "127.0.0.1:4747" }, true],
    [{ host: "localhost:4747", origin: "http://localhost:4747" }, true],
    [{ host: "[::1]:4747" }, true],
    [{ host: "gateway.example" }, true],
    [{ host: "gateway.example", origin: "https://gateway.example" }, true],
    [{ host: "GATEWAY.example:443", origin: "https://gateway.example" }, true],
    [{ host: "gateway.example:4747", origin: "https://gateway.example" }, false],
    [{ host: "gateway.example", origin: "https://gateway.example.evil.example" }, false],
    [{ host: "gateway.example", origin: "https://evil.example" }, false],
    [{ host: "sub.gateway.example" }, false],
    [{ host: "192.0.2.1:4747", origin: "http://192.0.2.1:4747" }, true],
    [{ host: "[2001:db8::1]:4747" }, true],
    [{ host: "192.0.2.1.evil.example" }, false],
    [{ host: "192.0.2.1:4747", origin: "http://evil.example" }, false],
    [{ host: "evil.example:4747" }, false],
    [{ host: "127.0.0.1.evil.example" }, false],
    [{ host: "127.0.0.1:4747", origin: "http://evil.example" }, false],
    [{ host: "127.0.0.1:4747", origin: "http://127.0.0.1:9999" }, false],
    [{ host: "127.0.0.1:4747", origin: "null" }, false],
    [{}, false],
  ])("%j is %s", (headers, expected) => {
    expect(sameOrigin(headers, hosts)).toBe(expected);
  });

  it("knows loopback addresses", () => {
    expect(["127.0.0.1", "127.9.9.9", "::1", "localhost"].every(isLoopback)).toBe(true);
    expect(["0.0.0.0", "::", "192.0.2.1", "127.0.0.1.evil.example"].some(isLoopback)).toBe(false);
  });
});
