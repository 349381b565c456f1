import { existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { compareTexts } from "@signalbox/tools";
import { describe, expect, it } from "vitest";
import { diskFs, type SkillFs } from "../src/fs.ts";
import { createPins, createSkills, importPinFiles, shortDigest } from "../src/index.ts";
import type { CompareTexts } from "../src/pins/approvals.ts";
import type { PinValues } from "../src/pins/pin-store.ts";
import type { SkillSource } from "../src/sources.ts";
import { sha256 } from "../src/text.ts";
import { folder, write } from "./folders.ts";

const compare: CompareTexts = (texts) => compareTexts(texts, { role: "owner" });

/** Creates values in memory that are converted to JSON and back, as in a database. */
function memoryValues() {
  const texts = new Map<string, string>();
  const values: PinValues = {
    async get(_namespace, key) {
      const text = texts.get(key);
      return text === undefined ? undefined : JSON.parse(text);
    },
    async set(_namespace, key, value) {
      texts.set(key, JSON.stringify(value));
    },
  };
  return { ...values, texts };
}

/** Creates skills of several sources, and an agent with a workspace. */
function open(files: Readonly<Record<string, string>>) {
  const dir = folder(files);
  const kv = memoryValues();
  const source = (kind: SkillSource["kind"]): SkillSource => ({ kind, dir: join(dir, kind) });
  const agent = { workspaceDir: join(dir, "work") };
  const start = (pinsFirstSeen?: () => boolean) => {
    const sources = [source("bundled"), source("managed")];
    const pins = { store: () => createPins(kv), compare };
    const more = pinsFirstSeen && { pinsFirstSeen };
    const skills = createSkills({ sources, pins, maxAgeMs: 0, env: {}, ...more });
    const offered = async () => (await skills.forAgent(agent)).skills.map(({ id }) => id);
    const waiting = async () => (await skills.pending(agent)).map(({ skill }) => skill.id);
    const one = async () => {
      const [pending] = await skills.pending(agent);
      if (pending === undefined) throw new Error("nothing waits");
      return pending;
    };
    return { skills, offered, waiting, one };
  };
  return { dir, start, agent, kv };
}

describe("a skill that changes", () => {
  it("shows the whole old and new text of a long file that was replaced", async () => {
    const lines = (word: string) => Array.from({ length: 6_000 }, (_, at) => `${word} ${at}`).join("\n");
    const { dir, start, agent } = open({
      "managed/a/SKILL.md": "# a\nOld.\n",
      "managed/a/words.txt": lines("o"),
    });
    const { skills, offered, one } = start();
    expect(await offered()).toEqual(["a"]);
    write(dir, { "managed/a/words.txt": lines("n") });
    expect((await skills.forAgent(agent)).excluded).toHaveLength(1);
    const { diff } = await one();
    for (const line of ["-o 0", "-o 5999", "+n 0", "+n 5999"]) expect(diff.split("\n")).toContain(line);
  });

  it("shows many changed lines without the unchanged ones", async () => {
    const lines = Array.from({ length: 2_000 }, (_, at) => `line ${at}\n`);
    const { dir, start, agent } = open({
      "managed/a/SKILL.md": "# a\nOld.\n",
      "managed/a/words.txt": lines.join(""),
    });
    const { skills, one } = start();
    await skills.forAgent(agent);
    const changed = lines.map((line, at) => (at % 4 === 0 ? `new ${line}` : line));
    write(dir, { "managed/a/words.txt": changed.join("") });
    const diff = (await one()).diff.split("\n");
    expect(diff.filter((line) => line.startsWith("-line"))).toHaveLength(500);
    expect(diff).not.toContain("-line 1");
  });

  it("is detected through links", async () => {
    const { dir, start } = open({ "managed/notes.md": "# a\nOld.\n", "managed/a/run.sh": "echo 1\n" });
    symlinkSync("../notes.md", join(dir, "managed/a/SKILL.md"));
    const { skills, offered, one } = start();
    expect(await offered()).toEqual(["a"]);
    write(dir, { "managed/notes.md": "# a\nNew.\n" });
    expect(await offered()).toEqual([]);
    const pending = await one();
    expect(pending.diff).toContain("-Old.\n+New.\n");
    expect(await skills.approve(pending, "ann")).toBe(true);
    expect(await offered()).toEqual(["a"]);
  });

  it("is rejected if a link leads to another folder, which could change unnoticed", async () => {
    const { dir, start, agent } = open({
      "managed/a/SKILL.md": "# a",
      "managed/a/lib/x.sh": "1",
      "managed/lib/x": "",
    });
    symlinkSync("lib", join(dir, "managed/a/same"));
    const { skills, offered } = start();
    expect(await offered()).toEqual(["a"]);
    symlinkSync("../lib", join(dir, "managed/a/other"));
    expect(await offered()).toEqual([]);
    const [excluded] = (await skills.forAgent(agent)).excluded;
    expect(excluded?.reasons[0]?.message).toContain("which is not a file of the skill");
  });

  it("is rejected if its folder has too many entries", async () => {
    const { dir, start, agent } = open({ "managed/a/SKILL.md": "# a" });
    for (let at = 0; at < 1_100; at++) mkdirSync(join(dir, `managed/a/d${at}`));
    const { skills } = start();
    const [excluded] = (await skills.forAgent(agent)).excluded;
    expect(excluded?.reasons[0]?.message).toContain("has more than 1000 files");
  });

  it("waits for an approval, and lists its changes", async () => {
    const { dir, start, agent } = open({
      "managed/a/SKILL.md": "# a\nOld.\n",
      "managed/a/run.sh": "echo 1\n",
      "managed/a/old.txt": "",
      "managed/a/__proto__": "1",
      "managed/b/SKILL.md": "# b",
    });
    const { skills, offered, one } = start();
    expect(await offered()).toEqual(["a", "b"]);
    write(dir, { "managed/a/SKILL.md": "# a\nNew.\n", "managed/a/new.txt": "", "managed/a/__proto__": "2" });
    rmSync(join(dir, "managed/a/old.txt"));
    expect(await offered()).toEqual(["b"]);
    const changes = ["new.txt added", "old.txt removed", "SKILL.md changed", "__proto__ changed"];
    expect((await skills.forAgent(agent)).excluded).toMatchObject([
      { skill: { id: "a" }, reasons: [{ requirement: "pin", missing: changes }] },
    ]);
    const pending = await one();
    expect(pending.diff).toContain("-Old.\n+New.\n");
    expect(await skills.approve(pending, "ann")).toBe(true);
    expect(await offered()).toEqual(["a", "b"]);
    // Another process, for instance after a restart, knows it too.
    expect(await start().offered()).toEqual(["a", "b"]);
  });

  it("is not approved if it has changed since it was shown", async () => {
    const { dir, start } = open({ "managed/a/SKILL.md": "# a" });
    const { skills, offered, one } = start();
    await offered();
    write(dir, { "managed/a/SKILL.md": "# shown" });
    const pending = await one();
    write(dir, { "managed/a/SKILL.md": "# slipped in" });
    expect(await skills.approve(pending, "ann")).toBe(false);
    expect(await offered()).toEqual([]);
  });

  it("can be approved by another process", async () => {
    const { dir, start } = open({ "managed/a/SKILL.md": "# a" });
    const gateway = start();
    await gateway.offered();
    write(dir, { "managed/a/SKILL.md": "# other" });
    expect(await gateway.offered()).toEqual([]);
    const commandLine = start();
    await commandLine.skills.approve(await commandLine.one(), "command line");
    expect(await gateway.offered()).toEqual(["a"]);
  });
});

describe("a new skill", () => {
  it("waits for an approval if it appears in a known workspace", async () => {
    const { dir, start } = open({ "work/skills/first/SKILL.md": "# first", "managed/m/SKILL.md": "# m" });
    const { skills, offered, waiting, one } = start();
    expect(await offered()).toEqual(["first", "m"]);
    write(dir, {
      "work/skills/second/SKILL.md": "# second",
      "work/.agents/skills/third/SKILL.md": "# third",
      "managed/n/SKILL.md": "# n",
    });
    expect(await offered()).toEqual(["first", "m", "n"]);
    expect(await waiting()).toEqual(["second", "third"]);
    expect((await one()).diff).toContain("+# second");
    await skills.approve(await one(), "ann");
    expect(await offered()).toEqual(["first", "second", "m", "n"]);
    expect(await start().waiting()).toEqual(["third"]);
  });

  it("does not hide an approved skill of the same name while it waits", async () => {
    const { dir, start, agent } = open({
      "bundled/weather/SKILL.md": "# weather\nBundled.",
      "work/skills/first/SKILL.md": "# first",
    });
    const { skills, offered, waiting, one } = start();
    await offered();
    write(dir, { "work/skills/weather/SKILL.md": "# weather\nWritten by an agent." });
    const source = async () =>
      (await skills.forAgent(agent)).skills.find(({ id }) => id === "weather")?.source;
    expect([await source(), await waiting()]).toEqual(["bundled", ["weather"]]);
    const reports = (await skills.check(agent)).skills.filter(({ skill: { id } }) => id === "weather");
    expect(reports.map(({ skill, eligible }) => [skill.source, eligible])).toEqual([
      ["workspace", false],
      ["bundled", true],
    ]);
    await skills.approve(await one(), "ann");
    expect(await source()).toBe("workspace");
  });

  it("is selected by 128 bits of its digest", async () => {
    const { dir, start } = open({ "work/skills/first/SKILL.md": "# first" });
    const { offered, one } = start();
    await offered();
    write(dir, { "work/skills/second/SKILL.md": "# second" });
    const pending = await one();
    expect(shortDigest(pending)).toBe(pending.digest.slice(0, 32));
  });

  it("needs no approval if it is bundled", async () => {
    const { dir, start } = open({ "bundled/a/SKILL.md": "# a" });
    const { offered } = start();
    await offered();
    write(dir, { "bundled/a/SKILL.md": "# of the next release", "bundled/b/SKILL.md": "# b" });
    expect(await offered()).toEqual(["a", "b"]);
  });
});

describe("stored approvals", () => {
  it("approve nothing if they are damaged", async () => {
    const { start, kv } = open({ "managed/a/SKILL.md": "# a" });
    await start().offered();
    for (const key of kv.texts.keys()) if (key.startsWith("skill-")) kv.texts.set(key, "null");
    expect(await start().offered()).toEqual([]);
  });

  it("apply to the same folder at another path", async () => {
    const [one, two] = [
      folder({ "managed/a/SKILL.md": "# a" }),
      folder({ "managed/a/SKILL.md": "# changed" }),
    ];
    const kv = memoryValues();
    const start = (root: string) => {
      const store = createPins(kv, (dir) => dir.replace(root, "home:"));
      const sources: SkillSource[] = [{ kind: "managed", dir: join(root, "managed") }];
      return createSkills({ sources, pins: { store: () => store, compare }, env: {} });
    };
    const offered = async (root: string) => (await start(root).forAgent()).skills.map(({ id }) => id);
    expect(await offered(one)).toEqual(["a"]);
    expect(await offered(two)).toEqual([]);
    const [pending] = await start(two).pending();
    expect(pending?.diff).toContain("+# changed");
    if (pending !== undefined) await start(two).approve(pending, "ann");
    expect([await offered(one), await offered(two)]).toEqual([[], ["a"]]);
  });

  it("are read only when their store is open", async () => {
    const { dir, kv } = open({ "managed/a/SKILL.md": "# a" });
    const sources: SkillSource[] = [{ kind: "managed", dir: join(dir, "managed") }];
    let store: ReturnType<typeof createPins> | undefined = createPins(kv);
    const start = () => createSkills({ sources, pins: { store: () => store, compare }, env: {} });
    await start().forAgent();
    write(dir, { "managed/a/SKILL.md": "# changed" });
    store = undefined;
    const skills = start();
    expect((await skills.forAgent()).skills).toHaveLength(1);
    expect(await skills.pending()).toEqual([]);
    store = createPins(kv);
    expect((await skills.forAgent()).skills).toEqual([]);
  });

  it("are imported once from the files of earlier versions, without approving anything new", async () => {
    const { dir, start, kv } = open({ "managed/a/SKILL.md": "# a", "work/skills/b/SKILL.md": "# b" });
    await start().offered();
    const old = join(dir, "old");
    const files = new Map([...kv.texts].map(([key, text]) => [`old/${key}.json`, text]));
    write(dir, { ...Object.fromEntries(files), "old/unrelated.tmp": "x" });
    const damaged = `skill-${sha256(join(dir, "work/skills/b")).slice(0, 32)}`;
    write(dir, { [`old/${damaged}.json`]: "{", "managed/a/SKILL.md": "# changed" });
    kv.texts.clear();
    await importPinFiles(old, kv);
    expect(existsSync(old)).toBe(false);
    const { offered, waiting } = start();
    expect([await offered(), await waiting()]).toEqual([[], ["b", "a"]]);
    write(dir, { "managed/a/SKILL.md": "# a" });
    expect(await offered()).toEqual(["a"]);
    write(dir, { "work/skills/new/SKILL.md": "# new" });
    expect(await waiting()).toEqual(["b", "new"]);
    await importPinFiles(old, kv);
    expect(await offered()).toEqual(["a"]);
  });

  it("are kept if the files of earlier versions have others", async () => {
    const { dir, start, kv } = open({ "managed/a/SKILL.md": "# a" });
    await start().offered();
    const before = new Map(kv.texts);
    write(dir, Object.fromEntries([...before.keys()].map((key) => [`old/${key}.json`, "{}"])));
    await importPinFiles(join(dir, "old"), kv);
    expect(kv.texts).toEqual(before);
  });

  it("are not written if `pinsFirstSeen` is false", async () => {
    const { dir, start } = open({ "work/skills/a/SKILL.md": "# a" });
    expect(await start(() => false).offered()).toEqual(["a"]);
    write(dir, { "work/skills/b/SKILL.md": "# b" });
    expect(await start().offered()).toEqual(["a", "b"]);
  });
});

describe("skills of several agents", () => {
  it("are approved when several agents see them first at the same time", async () => {
    const dir = folder({ "managed/a/SKILL.md": "# a\n", "one/skills/x/SKILL.md": "# x\n" });
    const source: SkillSource = { kind: "managed", dir: join(dir, "managed") };
    for (let time = 0; time < 10; time++) {
      const store = createPins(memoryValues());
      const pins = { store: () => store, compare };
      const skills = createSkills({ sources: [source], pins, env: {} });
      const agents = ["one", "two", "one"].map((name) => skills.forAgent({ workspaceDir: join(dir, name) }));
      const offered = (await Promise.all(agents)).map((each) => each.skills.map(({ id }) => id));
      expect(offered).toEqual([["x", "a"], ["a"], ["x", "a"]]);
    }
  });
});

describe("a skill whose folder cannot be looked through", () => {
  it("is excluded without affecting other skills", async () => {
    const dir = folder({
      "managed/a/SKILL.md": "# a\nOld.\n",
      "managed/huge/SKILL.md": "# huge\n",
      "managed/locked/SKILL.md": "# locked\n",
      "managed/locked/cache/x": "",
    });
    const fs: SkillFs = {
      ...diskFs,
      list(path, limit) {
        if (path.endsWith("/locked/cache")) throw Object.assign(new Error("refused"), { code: "EACCES" });
        return diskFs.list(path, limit);
      },
    };
    const pins = createPins(memoryValues());
    const skills = createSkills({
      sources: [{ kind: "managed", dir: join(dir, "managed") }],
      pins: { store: () => pins, compare },
      maxAgeMs: 0,
      env: {},
      fs,
    });
    const offered = async () => (await skills.forAgent()).skills.map(({ id }) => id);
    expect(await offered()).toEqual(["a", "huge"]);
    const [, , locked] = (await skills.check()).skills;
    expect(locked?.reasons[0]?.message).toContain("locked cannot be read: EACCES.");

    const [huge] = (await skills.forAgent()).skills.filter(({ id }) => id === "huge");
    write(dir, { "managed/a/SKILL.md": "# a\nNew.\n", "managed/huge/data": "x".repeat(8_000_001) });
    const pending = await skills.pending();
    expect(pending.map(({ skill }) => skill.id)).toEqual(["a"]);
    for (const each of pending) expect(await skills.approve(each, "ann")).toBe(true);
    expect(await offered()).toEqual(["a"]);
    if (huge !== undefined) expect(await skills.approve({ skill: huge, digest: "" }, "ann")).toBe(false);
  });
});
