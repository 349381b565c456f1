import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { discord } from "@signalbox/channel-discord";
import { feishu } from "@signalbox/channel-feishu";
import { slack } from "@signalbox/channel-slack";
import { telegram } from "@signalbox/channel-telegram";
import { configJsonSchema, formatProblem, loadConfig } from "@signalbox/config";
import { type Actions, createProgram } from "@signalbox/gateway/cli";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { codeBlocks, commandsOf, invocationsOf } from "../src/code-blocks.ts";
import { PAGES, ROOT } from "../src/pages.ts";

const CHANNELS = [discord, feishu, slack, telegram];

const blocks = PAGES.flatMap(({ source }) =>
  codeBlocks(readFileSync(join(ROOT, source), "utf8")).map((block) => ({ source, ...block })),
);

const commands = blocks
  .filter(({ language }) => language === "sh")
  .flatMap((block) => commandsOf(block).map((line) => ({ source: block.source, line })));

describe("what the command line is told", () => {
  const told = commands.flatMap(({ source, line }) =>
    invocationsOf(line).map((parameters) => ({ source, typed: parameters.join(" "), parameters })),
  );

  it("is in many places", () => expect(told.length).toBeGreaterThan(100));

  it.each(told)("it understands, in $source: $typed", async ({ parameters }) => {
    let understood = 0;
    const count = async (): Promise<void> => {
      understood += 1;
    };
    const actions: Actions = { run: () => count, runOn: () => count, runOnTwo: () => count };
    const program = createProgram("0.0.0", actions);
    for (const each of [program, ...program.commands]) each.configureOutput({ writeOut: () => {} });
    // Completion is the program's own, and needs no gateway.
    const isOwn = parameters[0] === "completion" || parameters.includes("--help");
    if (isOwn) return;
    await program.parseAsync(parameters, { from: "user" });
    expect(understood).toBe(1);
  });
});

it("every script that npm is to run is there", () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(
    readFileSync(join(ROOT, "package.json"), "utf8"),
  );
  const run = commands.flatMap(({ source, line }) => {
    const script = /\bnpm (?:run ([\w:-]+)|(start|test)\b)/.exec(line);
    return script === null ? [] : [{ source, script: script[1] ?? script[2] ?? "" }];
  });
  expect(run.length).toBeGreaterThan(20);
  // Those of a package of one's own, which create-channel makes.
  const ofOwn = new Set(["docs/writing-a-channel.md", "packages/create-channel/README.md"]);
  const missing = run.filter(({ source, script }) => !ofOwn.has(source) && !(script in scripts));
  expect(missing).toEqual([]);
});

describe("configurations", () => {
  const sections = new Set(Object.keys(Object(configJsonSchema()["properties"])));
  const isConfiguration = (text: string): boolean => {
    const [document, ...more] = [parseAllDocuments(text)].flat();
    const keys = Object.keys(Object(document?.toJS()));
    return more.length === 0 && keys.every((section) => sections.has(section));
  };
  const configurations = blocks.filter(({ language, text }) => language === "yaml" && isConfiguration(text));

  it("are shown", () => expect(configurations.length).toBeGreaterThan(3));

  it.each(configurations)("nothing is wrong in $source: $text", async ({ text }) => {
    const secret = "0123456789abcdef0123456789abcdef";
    const names = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = ""]) => name);
    const { config, problems } = loadConfig({
      file: "signalbox.yaml",
      text,
      env: Object.fromEntries(names.map((name) => [name, secret])),
      sources: { file: () => secret, command: () => secret },
    });
    expect(problems.map(formatProblem)).toEqual([]);
    for (const [id, { accounts }] of Object.entries(config.channels))
      for (const account of Object.values(accounts)) {
        const schema = CHANNELS.find((channel) => channel.id === id)?.config;
        const outcome = await schema?.["~standard"].validate(account);
        // A token has the form that its platform gives it, which none of ours has.
        const wrong = (outcome?.issues ?? []).filter(({ path }) => !/token/i.test(String(path?.[0])));
        expect(wrong).toEqual([]);
      }
  });
});

it.each(blocks.filter(({ language }) => language === "json"))("is JSON, in $source", ({ text }) => {
  expect(() => JSON.parse(text)).not.toThrow();
});

it.each(
  blocks.flatMap(({ source, text }) =>
    [...text.matchAll(/scenarios\/[\w-]+\.yaml/g)].map(([file]) => ({ source, file })),
  ),
)("$source names $file, which is there", ({ file }) => {
  expect(existsSync(join(ROOT, file))).toBe(true);
});
