import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedactor, createVault, findEnvironmentSecrets, redactBeginning, redactJson } from "./index.ts";

// Without a copy, Node.js 22 keeps the long text in memory. Node.js 26 does not.
it("does not keep a long text in memory for a cached slice of it", () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const held = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const { redact } = createVault(["hunter2-secret"]);
  redact("The patterns are made with the first text.");
  const before = held();
  for (let i = 0; i < 100; i += 1) {
    const long = ["The text", i, ".".repeat(1_000_000)].join(" ");
    redact(long.slice(0, 40));
  }
  expect(held() - before).toBeLessThan(10_000_000);
});

describe("createRedactor", () => {
  const redact = createRedactor(["hunter2-secret", 'with "quotes"', "abc"]);

  it("removes known secrets, also inside JSON", () => {
    expect(redact("x hunter2-secret y")).toBe("x [redacted] y");
    expect(redact(JSON.stringify({ a: 'with "quotes"' }))).toBe('{"a":"[redacted]"}');
  });

  it("removes short secrets only as separate words", () => {
    expect(redact('{"pin":"abc"}, pin=abc; abc')).toBe('{"pin":"[redacted]"}, pin=[redacted]; [redacted]');
    expect(redact(JSON.stringify("refused\nabc"))).toBe('"refused\\n[redacted]"');
    expect(redact("abcdef xabc ABC 9abc")).toBe("abcdef xabc ABC 9abc");
  });

  it("does not treat secrets as regular expressions", () => {
    const odd = createRedactor(["a.b*c/d-e", "(x)", "{1}", ""]);
    expect(odd("a.b*c/d-e aXbbc/d-e (x) x {1} 1")).toBe("[redacted] aXbbc/d-e [redacted] x [redacted] 1");
  });

  it("removes secrets in any encoding, at any offset of an encoded text", () => {
    const secret = fc.string({ unit: "binary-ascii", minLength: 8, maxLength: 60 });
    const around = fc.string({ maxLength: 9 });
    fc.assert(
      fc.property(secret, around, around, (value, before, after) => {
        const hide = createRedactor([value]);
        const bytes = (text: string) => Buffer.from(text, "utf8");
        const base64 = bytes(before + value + after).toString("base64");
        const ways: readonly (readonly [string, string])[] = [
          [value, value],
          [encodeURIComponent(value), encodeURIComponent(value)],
          [JSON.stringify({ value }), JSON.stringify(value).slice(1, -1)],
          [
            JSON.stringify({ body: JSON.stringify({ value }) }),
            JSON.stringify(JSON.stringify(value)).slice(3, -3),
          ],
          [bytes(value).toString("hex"), bytes(value).toString("hex")],
          [bytes(value).toString("hex").toUpperCase(), bytes(value).toString("hex").toUpperCase()],
        ];
        for (const [text, gone] of ways) expect(hide(` ${text} `)).not.toContain(gone);
        for (const text of [base64, base64.replaceAll("+", "-").replaceAll("/", "_")]) {
          const left = hide(text)
            .split("[redacted]")
            .map((part) => Buffer.from(part, "base64").toString());
          // Its first and last characters also depend on the text around it.
          for (const part of left) expect(part).not.toContain(value.slice(1, -1));
          expect(hide(text)).toContain("[redacted]");
        }
      }),
      { seed: Number(process.env["SIGNALBOX_SEED"] ?? 1), numRuns: 300 },
    );
  });

  it.each([
    ["capital letters", "HUNTER2-SECRET"],
    ["mixed case", "Hunter2-Secret"],
    ["zero-width characters", [..."hunter2-secret"].join("\u200b")],
    ["soft hyphens and variation selectors", "hunter2\u00ad-\ufe0fsecret"],
    ["percent escapes", [..."hunter2-secret"].map((c) => `%${c.charCodeAt(0).toString(16)}`).join("")],
    ["JSON escapes", [..."hunter2-secret"].map((c) => `\\u00${c.charCodeAt(0).toString(16)}`).join("")],
    ["HTML entities", [..."hunter2-secret"].map((c) => `&#${c.charCodeAt(0)};`).join("")],
    [
      "base64 in lines of 76",
      Buffer.from(`${"x".repeat(48)}hunter2-secret`)
        .toString("base64")
        .replace(/.{76}/, "$&\r\n"),
    ],
    ["bytes with spaces", [..."hunter2-secret"].map((c) => c.charCodeAt(0).toString(16)).join(" ")],
    ["bytes with 0x", [..."hunter2-secret"].map((c) => `0x${c.charCodeAt(0).toString(16)}`).join(", ")],
    [
      "escapes with braces",
      [..."hunter2-secret"].map((c) => `\\u{${c.charCodeAt(0).toString(16)}}`).join(""),
    ],
    ["hexadecimal in capitals", Buffer.from("hunter2-secret").toString("hex").toUpperCase()],
  ])("removes a known secret in %s", (_, text) => {
    const left = redact(`said: ${text} end`);
    expect(left).toContain("[redacted]");
    expect(left.replace(/\p{Cf}|\ufe0f/gu, "")).not.toMatch(
      /hunter2|%68|u0068|#104|68756e746572|68[ ,].*75|u\{68/i,
    );
  });

  it("removes single lines of a multi-line secret", () => {
    const key = "first-line-of-the-key\nsecond-line-of-the-key\nend";
    expect(createRedactor([key])("x second-line-of-the-key y")).toBe("x [redacted] y");
  });

  it("removes secrets that are added later", () => {
    const vault = createVault(["first-secret"]);
    expect(vault.redact("first-secret second-secret")).toBe("[redacted] second-secret");
    expect(vault.redact("the second-secret")).toBe("the second-secret");
    vault.add(["second-secret"]);
    expect(vault.redact("first-secret second-secret")).toBe("[redacted] [redacted]");
    expect(vault.redact("the second-secret")).toBe("the [redacted]");
  });

  it.each([
    ["sk-ant-REDACTED"],
    ["Bearer abcdefghijklmnop"],
    ["xoxb-123456789012-abcdef"],
    [`AIza${"x".repeat(35)}`],
    [`ghp_${"aB3".repeat(12)}`],
    [`gho_${"aB3".repeat(12)}`],
    [`sk-ant-oat01-${"aB3_".repeat(20)}AA`],
    [`sbt_${"aB3_-".repeat(9).slice(0, 43)}`],
    ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"],
    ["AKIAZZZZZZZZZZZZZZZZ"],
    [`-----BEGIN RSA PRIVATE KEY-----\n${"MIIEowIBAAKCAQEA".repeat(20)}\n-----END RSA PRIVATE KEY-----`],
  ])("removes text that looks like a credential: %s", (text) => {
    expect(redact(`key ${text} end`)).toBe("key [redacted] end");
  });

  it.each([
    ["amqp://app:s3cr3t@queue/x refused", "amqp://app:[redacted]@queue/x refused"],
    ["password=correct-horse; user=ann", "password=[redacted]; user=ann"],
    ["write BOT_TOKEN:-correct-horse", "write BOT_TOKEN:[redacted]"],
    ['{"client_secret":"0123456789abcdef"}', '{"client_secret":"[redacted]"}'],
    ["Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: [redacted]"],
  ])("removes text in the place of a credential: %s", (text, clean) => {
    expect(redact(text)).toBe(clean);
  });

  it.each([
    "a run has ended after 1234 ms, 3 turns, run r_01JZ3V8Q",
    "https://example.org/a/path?query=words#part",
    "the token is missing or wrong; sign in with the gateway's token",
    "ou_881e8247625e31527b4d15a31471504c wrote in oc_a0553eda9014c201e6969b478895c230",
    "2026-11-22T13:59:10.000Z packages/redaction/src/redactor.ts:29:39",
    "0123456789abcdef0123456789abcdef01234567 is a commit",
    ...["FEISHU_APP_SECRET", "TELEGRAM_BOT_TOKEN", "DB_PASSWORD", "OPENAI_API_KEY"].map(
      (name) => `Set ${name}, or write \${${name}:-default}.`,
    ),
  ])("does not change other text: %s", (text) => {
    expect(redact(text)).toBe(text);
  });

  it("finds credentials at the borders of its windows", () => {
    const token = `ghp_${"aB3".repeat(12)}`;
    for (const at of [28_600, 28_672, 32_740, 32_768, 61_440]) {
      const text = `${" ".repeat(at)}${token}${" ".repeat(40_000)}`;
      expect(redact(text)).toBe(`${" ".repeat(at)}[redacted]${" ".repeat(40_000)}`);
    }
  });
});

it("removes a secret with a lone surrogate", () => {
  const redact = createRedactor(["hunter2-\ud83d-secret"]);
  expect(redact("refused hunter2-\ud83d-secret")).toBe("refused [redacted]");
});

describe("redactBeginning", () => {
  const redact = redactBeginning(createRedactor(["hunter2-secret"]), 20);

  it("redacts a short text completely, and the beginning of a long one", () => {
    expect(redact("x hunter2-secret y")).toBe("x [redacted] y");
    expect(redact(`x hunter2-secret ${"y".repeat(100_000)}`)).toBe("x [redacted] yyy");
  });

  it("shows no part of a secret, however many are removed before it", () => {
    const secret = "correct horse battery staple";
    const beginning = redactBeginning(createRedactor([secret]), 8_000);
    for (let at = 0; at < secret.length; at += 1) {
      const shown = beginning(`${"x".repeat(at)}${`${secret} `.repeat(1_000)}`);
      expect(shown.replaceAll(/\[redacted\]|[x ]/g, "")).toBe("");
      expect(shown.length).toBeGreaterThan(4_000);
    }
  });

  it("removes a secret that crosses the end", () => {
    expect(redact(`0123456789 hunter2-secret ${"y".repeat(100_000)}`)).toBe("0123456789 [redacted");
  });
});

it("removes each of several truncated private keys", () => {
  const cut = `-----BEGIN PRIVATE KEY-----\n${"MIIEvQIBADANBgkq".repeat(4)}\n`;
  const redact = createRedactor([]);
  const left = redact(`one ${cut}${cut}-----BEGIN CERTIFICATE-----\nopen`);
  expect(left).toMatch(/^one \[redacted\]/);
  expect(left).toContain("-----BEGIN CERTIFICATE-----\nopen");
  expect(left).not.toContain("MIIE");
});

describe("redactJson", () => {
  const redact = createRedactor(["hunter2-secret"]);

  it("redacts strings and keys at every depth", () => {
    const value = { "hunter2-secret": [1, null, { said: "x hunter2-secret" }], ok: true };
    expect(redactJson(value, redact)).toEqual({
      "[redacted]": [1, null, { said: "x [redacted]" }],
      ok: true,
    });
  });

  it("redacts a number that is a secret", () => {
    const pin = createRedactor(["493817264519"]);
    expect(redactJson({ pin: 493817264519, at: 1_764_000_000_000 }, pin)).toEqual({
      pin: "[redacted]",
      at: 1_764_000_000_000,
    });
  });

  it("redacts each string as it would redact it alone", () => {
    const parts = [
      "x hunter2-secret",
      `ghp_${"aB3".repeat(12)}`,
      "password=correct-horse",
      "password=",
      "Bearer ",
    ];
    const parted = fc.constantFrom(
      ...parts,
      `-----BEGIN PRIVATE KEY-----\n${"MIIEvQIBADANBgkq".repeat(4)}\n`,
      "abcdefghijklmnop",
      "plain",
      "words ".repeat(1_000),
      "\n",
      "\0",
    );
    const text = fc.array(parted, { maxLength: 3 }).map((some) => some.join(""));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 6 }), (texts) => {
        expect(redactJson(texts, redact)).toEqual(texts.map(redact));
      }),
      { seed: Number(process.env["SIGNALBOX_SEED"] ?? 1), numRuns: 500 },
    );
  });

  it("returns the same value if there is nothing to redact", () => {
    const value = { said: ["nothing"] };
    expect(redactJson(value, redact)).toBe(value);
  });
});

it("finds secrets among environment variables by name", () => {
  const env = {
    API_KEY: "one",
    BOT_TOKEN: "two",
    DB_PASSWORD: "three",
    SMTP_PASS: "four",
    npm_config_auth_token: "five",
    DATABASE_URL: "postgres://app:six%21@db/x",
    PROXY: "http://proxy:8080",
    HOME: "/home/ann",
    UNSET_KEY: undefined,
  };
  const programs = { SSH_ASKPASS: "/usr/bin/ssh-askpass", GIT_ASKPASS: "echo" };
  expect(findEnvironmentSecrets({ ...programs, NPM_CONFIG_ALWAYS_AUTH: "true", SMTP_AUTH: "0" })).toEqual([]);
  expect(findEnvironmentSecrets({ PWD: "/home/ann", OLDPWD: "/tmp", DB_PWD: "hunter2-hunter2" })).toEqual([
    "hunter2-hunter2",
  ]);
  expect(findEnvironmentSecrets(env)).toEqual([
    ...["one", "two", "three", "four", "five"],
    ...["postgres://app:six%21@db/x", "six%21", "six!"],
  ]);
});
