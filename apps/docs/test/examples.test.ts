import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { dingtalk } from "@signalbox/channel-dingtalk";
import { discord } from "@signalbox/channel-discord";
import { feishu } from "@signalbox/channel-feishu";
import { imessage } from "@signalbox/channel-imessage";
import { signal } from "@signalbox/channel-signal";
import { slack } from "@signalbox/channel-slack";
import { telegram } from "@signalbox/channel-telegram";
import { wecom } from "@signalbox/channel-wecom";
import { whatsapp } from "@signalbox/channel-whatsapp";
import { configJsonSchema, formatProblem, loadConfig } from "@signalbox/config";
import { type Actions, createProgram } from "@signalbox/gateway/cli";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { findCodeBlocks, findCommands, findInvocations } from "../src/code-blocks.ts";
import { findTranslation, PAGES, ROOT } from "../src/pages.ts";

const CHANNELS = [dingtalk, discord, feishu, signal, imessage, slack, telegram, wecom, whatsapp];

const sources = PAGES.flatMap((page) => [page.source, findTranslation(page) ?? []].flat());
const blocks = [...sources, "README.md", "README.zh.md"].flatMap((source) =>
  findCodeBlocks(readFileSync(join(ROOT, source), "utf8")).map((block) => ({ source, ...block })),
);

const commands = blocks
  .filter(({ language }) => language === "sh")
  .flatMap((block) => findCommands(block).map((line) => ({ source: block.source, line })));

describe("commands in documents", () => {
  const invocations = commands.flatMap(({ source, line }) =>
    findInvocations(line).map((parameters) => ({ source, typed: parameters.join(" "), parameters })),
  );

  it("are found", () => expect(invocations.length).toBeGreaterThan(100));

  it.each(invocations)("can be parsed, in $source: $typed", async ({ parameters }) => {
    let runs = 0;
    const count = async (): Promise<void> => {
      runs += 1;
    };
    const actions: Actions = { run: () => count, runOn: () => count, runOnTwo: () => count };
    const program = createProgram("0.0.0", actions);
    for (const each of [program, ...program.commands]) each.configureOutput({ writeOut: () => {} });
    // The program handles completion and help itself.
    const isBuiltIn = parameters[0] === "completion" || parameters.includes("--help");
    if (isBuiltIn) return;
    await program.parseAsync(parameters, { from: "user" });
    expect(runs).toBe(1);
  });
});

it("every npm script in documents exists", () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(
    readFileSync(join(ROOT, "package.json"), "utf8"),
  );
  const run = commands.flatMap(({ source, line }) => {
    const script = /\bnpm (?:run ([\w:-]+)|(start|test)\b)/.exec(line);
    return script === null ? [] : [{ source, script: script[1] ?? script[2] ?? "" }];
  });
  expect(run.length).toBeGreaterThan(20);
  // These scripts belong to the package that create-channel creates.
  const inNewPackages = new Set(["docs/writing-a-channel.md", "packages/create-channel/README.md"]);
  const missing = run.filter(({ source, script }) => !inNewPackages.has(source) && !(script in scripts));
  expect(missing).toEqual([]);
});

describe("configurations in documents", () => {
  const sections = new Set(Object.keys(Object(configJsonSchema()["properties"])));
  const isConfiguration = (text: string): boolean => {
    const [document, ...more] = [parseAllDocuments(text)].flat();
    const keys = Object.keys(Object(document?.toJS()));
    return more.length === 0 && keys.every((section) => sections.has(section));
  };
  const configurations = blocks.filter(({ language, text }) => language === "yaml" && isConfiguration(text));

  it("are found", () => expect(configurations.length).toBeGreaterThan(3));

  it.each(configurations)("are valid, in $source: $text", async ({ text }) => {
    const secret = "0123456789abcdef0123456789abcdef";
    const names = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = ""]) => name);
    const getValue = (name: string) =>
      /database[-_]url$/i.test(name) ? "postgres://localhost/signalbox" : secret;
    const { config, problems } = loadConfig({
      file: "signalbox.yaml",
      text,
      env: Object.fromEntries(names.map((name) => [name, getValue(name)])),
      sources: { file: getValue, command: () => secret },
    });
    expect(problems.map(formatProblem)).toEqual([]);
    for (const [id, { accounts }] of Object.entries(config.channels))
      for (const account of Object.values(accounts)) {
        const schema = CHANNELS.find((channel) => channel.id === id)?.config;
        const outcome = await schema?.["~standard"].validate(account);
        // The tokens and keys in documents do not have the format of the platform.
        const wrong = (outcome?.issues ?? []).filter(({ path }) => !/token|key/i.test(String(path?.[0])));
        expect(wrong).toEqual([]);
      }
  });
});

it.each(blocks.filter(({ language }) => language === "json"))("JSON in $source can be parsed", ({ text }) => {
  expect(() => JSON.parse(text)).not.toThrow();
});

it.each(
  blocks.flatMap(({ source, text }) =>
    [...text.matchAll(/scenarios\/[\w-]+\.yaml/g)].map(([file]) => ({ source, file })),
  ),
)("$file, which $source names, exists", ({ file }) => {
  expect(existsSync(join(ROOT, file))).toBe(true);
});
