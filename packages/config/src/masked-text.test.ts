import { describe, expect, it } from "vitest";
import { maskSecrets, restoreSecrets } from "./masked-text.ts";

const FILE = "signalbox.yaml";
const TEXT = `# The key of last year: apiKey: sk-old-0123456789
gateway:
  auth: { token: hunter22hunter22 } # ours
models:
  providers:
    openai:
      apiKey: &key sk-live-0123456789 # do not share
      baseUrl: https://api.example.org/v1?api_key=query-secret-1
      headers: { X-Team: team-secret-1, accept: text/plain, Authorization: "Bearer \${TOKEN}" }
    copy: { apiKey: *key }
    mine: { apiKey: "\${MINE}" }
    ours: { apiKey: { command: [pass, show, ours] } }
store:
  url: |
    postgres://user:pw@db/signalbox
mcp:
  servers:
    files: { command: npx, args: [server, --token, args-secret-1], env: { API_KEY: env-secret-1, LANG: C } }
agents:
  list:
    - { id: main, systemPrompt: "Never say sk-live-0123456789." }
`;
const SECRETS = [
  "sk-old-0123456789",
  "hunter22hunter22",
  "sk-live-0123456789",
  "query-secret-1",
  "team-secret-1",
  "user:pw",
  "args-secret-1",
  "env-secret-1",
];

describe("maskSecrets", () => {
  it("replaces secrets in values, URLs, arguments, comments and copies elsewhere, and keeps references", () => {
    const { text } = maskSecrets(FILE, TEXT);
    for (const secret of SECRETS) expect(text).not.toContain(secret);
    expect(text).toContain('token: "<secret gateway.auth.token>"');
    expect(text).toContain('apiKey: &key "<secret models.providers.openai.apiKey>" # do not share');
    expect(text).toContain("apiKey: <secret comment 1>");
    for (const kept of ["accept: text/plain", "Bearer ${TOKEN}", "${MINE}", "[pass, show, ours]", "LANG: C"])
      expect(text).toContain(kept);
  });

  it("recognizes values that are secret elsewhere, such as resolved references", () => {
    const { text } = maskSecrets(FILE, "agents: { defaults: { systemPrompt: Say s3cr3t-value } }\n", [
      "s3cr3t-value",
    ]);
    expect(text).not.toContain("s3cr3t-value");
  });

  it("replaces every copy of a secret in a comment", () => {
    const { text } = maskSecrets(FILE, "# first s3cr3t-value, then s3cr3t-value again\n", ["s3cr3t-value"]);
    expect(text).toBe("# first <secret comment 1>, then <secret comment 2> again\n");
  });

  it("refuses a text whose syntax is wrong, because its secrets are not recognized", () => {
    expect(() => maskSecrets(FILE, 'models: { providers: { a: { apiKey: "sk-live')).toThrow(
      "cannot be shown without its secrets",
    );
    expect(() => maskSecrets("signalbox.json5", "{}")).toThrow("cannot be shown without its secrets");
  });

  it("masks JSON", () => {
    const text = '{"gateway": {"auth": {"token": "hunter22hunter22"}}}';
    const masked = maskSecrets("signalbox.json", text).text;
    expect(JSON.parse(masked)).toEqual({ gateway: { auth: { token: "<secret gateway.auth.token>" } } });
    expect(restoreSecrets("signalbox.json", masked, text)).toBe(text);
  });
});

describe("restoreSecrets", () => {
  it("restores an unchanged text byte by byte", () => {
    expect(restoreSecrets(FILE, maskSecrets(FILE, TEXT).text, TEXT)).toBe(TEXT);
  });

  it("keeps the secrets of a changed text and accepts new ones", () => {
    const { text } = maskSecrets(FILE, TEXT);
    const changed = text
      .replace("LANG: C", "LANG: de")
      .replace('"<secret models.providers.openai.headers.X-Team>"', "new-team-secret");
    expect(restoreSecrets(FILE, changed, TEXT)).toBe(
      TEXT.replace("LANG: C", "LANG: de")
        .replace("team-secret-1", "new-team-secret")
        .replace(
          "|\n    postgres://user:pw@db/signalbox",
          JSON.stringify("postgres://user:pw@db/signalbox\n"),
        ),
    );
  });

  it.each([
    ["another key", 'agents: { defaults: { systemPrompt: "<secret gateway.auth.token>" } }\n'],
    ["another secret", 'models: { providers: { evil: { apiKey: "<secret gateway.auth.token>" } } }\n'],
    ["a part of a value", 'gateway: { auth: { token: "x<secret gateway.auth.token>" } }\n'],
    ["a key", '"<secret gateway.auth.token>": 1\n'],
    ["a comment", "# <secret gateway.auth.token>\n"],
    ["a secret that does not exist", 'hooks: { a: { secret: "<secret hooks.a.secret>" } }\n'],
  ])("refuses to move a secret to %s", (_, text) => {
    expect(() => restoreSecrets(FILE, text, TEXT)).toThrow(/marker/);
  });
});
