import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { echo } from "../examples/provider.ts";
import { createModels } from "../src/index.ts";
import { providerSuite, wire } from "../src/testkit/index.ts";
import { testModel } from "./support/fixtures.ts";

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

describe("the README", () => {
  // The examples are type-checked as files of this package.
  it.each(readdirSync(new URL("../examples", import.meta.url)))("contains examples/%s", (name) => {
    expect(read("README.md")).toContain(`\`\`\`ts\n${read(`examples/${name}`)}\`\`\``);
  });

  it("names every warning", () => {
    const codes = read("src/shared/warnings.ts").match(/(?<=\| ")[a-z_.-]+(?=")/g) ?? [];
    expect(codes.length).toBeGreaterThan(12);
    for (const code of codes) {
      const name = /_(?:dropped|clamped)$/.test(code) ? code : `history_${code}`;
      expect(read("README.md")).toContain(`\`${name}\``);
    }
  });

  it("names every failure", () => {
    const codes = read("src/failure/failure.ts").match(/(?<=^ {2})\w+(?=: \{ scope)/gm) ?? [];
    expect(codes.length).toBeGreaterThan(10);
    const [, table] = read("README.md").split("## Failures");
    for (const code of codes) expect(table).toContain(`\`${code}\``);
  });
});

const said = (...events: readonly object[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

providerSuite(
  { describe, it },
  {
    provider: echo,
    model: testModel("echo", "parrot"),
    recordings: [
      {
        name: "text",
        body: said({}, { say: "Héllo" }, { say: " 🎉" }, { end: true }),
        says: { text: "Héllo 🎉" },
      },
    ],
    keepAlive: ": still here\n\n",
    refusals: [{ name: "a wrong key", status: 401, body: "who are you", code: "auth" }],
  },
);

it("createModels uses a provider of one's own", async () => {
  const { fetch, requests } = wire({ pieces: [Buffer.from(said({ say: "Hi." }, { end: true }))] });
  const entry = { api: "echo", baseUrl: "https://echo.test" };
  const models = createModels({ mine: entry }, { providers: [echo], fetch });
  expect(await models.complete("mine/parrot", "Hello.")).toMatchObject({ ok: true, text: "Hi." });
  expect(requests[0]?.url).toBe("https://echo.test/say");
});
