import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { loadConfig } from "@signalbox/config";
import { locateHome, secretSources } from "@signalbox/home";
import { expect, it } from "vitest";
import { openSkillPins } from "../../src/configure/skill-pins.ts";
import { run, stateOf, temporaryFolder, whyOf } from "./import-run.ts";
import { CONFIGURATION, createOpenclawSource, FILES, TOKEN } from "./openclaw-source.ts";

it("reports lines of notes by number, without their text", async () => {
  const text = `# Tools\nThe canvas takes the token ${TOKEN}\n`;
  const { report } = await run(createOpenclawSource({ files: { ...FILES, "workspace/TOOLS.md": text } }));
  expect(report.steps.join("\n")).toMatch(/^main\/TOOLS\.md:2$/m);
  expect(JSON.stringify(report)).not.toContain(TOKEN);
});

const SIMILAR_NAMES = {
  models: {
    providers: {
      openai: { api: "openai-completions", apiKey: "sk-invented-one", headers: { 2: "sk-invented-two" } },
      "openai-2": { api: "openai-completions", apiKey: "sk-invented-three" },
    },
  },
};

it("stores secrets of similarly named settings in files of their own", async () => {
  const dir = createOpenclawSource({ configuration: SIMILAR_NAMES });
  const { home } = await run(dir);
  const { config } = loadConfig({
    file: join(home, "signalbox.yaml"),
    text: readFileSync(join(home, "signalbox.yaml"), "utf8"),
    env: {},
    sources: secretSources(locateHome(home, {}), {}),
  });
  expect(config.models.providers).toMatchObject({
    openai: { apiKey: "sk-invented-one", headers: { 2: "sk-invented-two" } },
    "openai-2": { apiKey: "sk-invented-three" },
  });
});

it("replaces a stored secret of another value only with --force", async () => {
  const dir = createOpenclawSource({ configuration: SIMILAR_NAMES });
  const planned = await run(dir);
  const name = /secrets\/(model-openai-2-\w+)/.exec(
    readFileSync(join(planned.home, "signalbox.yaml"), "utf8").split("openai-2:")[1] ?? "",
  )?.[1];
  const home = temporaryFolder();
  const file = join(home, "secrets", name ?? "");
  mkdirSync(join(home, "secrets"));
  writeFileSync(file, "mine\n");
  const { report } = await run(dir, {}, { home });
  expect(whyOf(report, "models.providers.openai-2.apiKey")).toBe(`secrets/${name} has another value here.`);
  expect(readFileSync(file, "utf8")).toBe("mine\n");
  await run(dir, { force: new Set(["config"]) }, { home });
  expect(readFileSync(file, "utf8")).toBe("sk-invented-three\n");
});

it("imports no skills through a link", async () => {
  const dir = createOpenclawSource();
  const outside = join(temporaryFolder(), "skills");
  renameSync(join(dir, "workspace/skills"), outside);
  symlinkSync(outside, join(dir, "workspace/skills"));
  const { report, home } = await run(dir);
  expect(whyOf(report, "main/skills")).toBe("A link, which may lead out of the folder.");
  expect(existsSync(join(home, "workspaces/main/skills/own"))).toBe(false);
});

it.each([
  ["folder", "bin"],
  ["file", "bin/tool.sh"],
])("writes no part of a skill if a %s of it is a link here", async (_, linked) => {
  const dir = createOpenclawSource({ files: { ...FILES, "skills/weather/bin/tool.sh": "echo" } });
  const home = temporaryFolder();
  const outside = temporaryFolder();
  const place = join(home, "skills/weather", linked);
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(outside, place);
  for (const force of [[], ["skills"]] as const) {
    const { report } = await run(dir, { force: new Set(force) }, { home });
    expect(stateOf(report, "skills/weather")).toBe("conflict");
    expect(readdirSync(outside)).toEqual([]);
    expect(existsSync(join(home, "skills/weather/SKILL.md"))).toBe(false);
  }
});

it("imports skills without an approval", async () => {
  const { home, report, store } = await run(createOpenclawSource());
  expect(stateOf(report, "skills/weather")).toBe("changed");
  const pins = openSkillPins(store.kv, { dir: home });
  for (const dir of ["skills/weather", "workspaces/main/skills/own"])
    expect(await pins.get(join(home, dir))).toMatchObject({ pin: { digest: "" }, by: "nobody" });
});

it("warns that nobody is an owner, unless the source or an option names one", async () => {
  const warningsOf = async (commands: object, owners: readonly string[] = []): Promise<string> => {
    const dir = createOpenclawSource({ configuration: { ...CONFIGURATION, commands } });
    return (await run(dir, { owners, apply: false })).report.warnings.join("\n");
  };
  expect(await warningsOf({})).toContain("Name yourself with --owner");
  expect(await warningsOf({}, ["telegram:5001"])).not.toContain("--owner");
  expect(await warningsOf(CONFIGURATION.commands)).not.toContain("--owner");
});
