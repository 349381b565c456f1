import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { diskFs, type SkillFs } from "../src/fs.ts";
import { createSkills, standardSources } from "../src/index.ts";
import type { SkillSource } from "../src/sources.ts";
import { folder, skill, write } from "./folders.ts";

const from = (...sources: SkillSource[]) => createSkills({ sources, env: {}, maxAgeMs: 0 });
const extra = (dir: string): SkillSource => ({ kind: "extra", dir });
const idsIn = async (dir: string) => (await from(extra(dir)).forAgent()).skills.map(({ id }) => id);
const named = (name: string) => skill(`name: ${name}\ndescription: About ${name}.`);

describe("sources", () => {
  it("replace one another in the order of their kinds", async () => {
    const root = folder();
    const home = join(root, "home");
    const signalboxHome = join(root, "signalbox");
    const workspaceDir = join(root, "workspace");
    const places = {
      extra: join(root, "extra"),
      bundled: join(root, "bundled"),
      managed: join(signalboxHome, "skills"),
      personal: join(home, ".agents", "skills"),
      project: join(workspaceDir, ".agents", "skills"),
      workspace: join(workspaceDir, "skills"),
    };
    const kinds = ["extra", "bundled", "managed", "personal", "project", "workspace"] as const;
    kinds.forEach((kind, rank) => {
      // Skill number n is in every source up to number n.
      for (let n = rank; n < kinds.length; n++) {
        write(places[kind], { [`s${n}/SKILL.md`]: skill(`name: s${n}\ndescription: from ${kind}`) });
      }
    });
    const standard = standardSources({
      home,
      signalboxHome,
      bundledDir: places.bundled,
      extraDirs: [places.extra],
    });
    const skills = createSkills({ sources: [...standard].reverse(), env: {} });
    const agent = await skills.forAgent({ workspaceDir });
    expect(agent.skills.map(({ id, description }) => `${id} ${description}`)).toEqual([
      "s5 from workspace",
      "s4 from project",
      "s3 from personal",
      "s2 from managed",
      "s1 from bundled",
      "s0 from extra",
    ]);
    const report = (await skills.check({ workspaceDir })).skills.find(({ skill }) => skill.id === "s2");
    expect(report?.replaces.map(({ source }) => source)).toEqual(["bundled", "extra"]);
    expect((await skills.forAgent()).skills.map(({ source }) => source)).not.toContain("workspace");
  });

  it("of one kind replace one another in the order of the list", async () => {
    const [a, b] = [folder({ "x/SKILL.md": named("x") }), folder({ "x/SKILL.md": named("x") })];
    expect((await from(extra(a), extra(b)).forAgent()).skills[0]?.dir).toBe(join(b, "x"));
  });

  it("may be missing", async () => {
    const check = await from(extra("/nowhere/at/all")).check();
    expect(check).toEqual({ skills: [], problems: [], unknown: [], ok: true });
  });
});

describe("a source", () => {
  it("contains skills, packs with a skills folder, repositories and groups", async () => {
    const dir = folder({
      "direct/SKILL.md": named("direct"),
      "kit/skills/in-kit/SKILL.md": named("in-kit"),
      "kit/README.md": "no skill",
      "skills/nested/SKILL.md": named("nested"),
      "repository/plugin/skills/deep/SKILL.md": named("deep"),
      "group/kind/grouped/SKILL.md": named("grouped"),
      "a/b/c/d/e/SKILL.md": named("too-deep"),
      ".git/skills/x/SKILL.md": named("hidden"),
      "node_modules/skills/x/SKILL.md": named("module"),
      "README.md": "# no skill",
    });
    expect(await idsIn(dir)).toEqual(["deep", "direct", "grouped", "in-kit", "nested"]);
  });

  it("of the kind extra may itself be a skill", async () => {
    const dir = folder({ "mine/SKILL.md": named("mine") });
    expect(await idsIn(join(dir, "mine"))).toEqual(["mine"]);
  });

  it("names a skill after its folder if the file has no name", async () => {
    const dir = folder({
      "create-python-script/SKILL.md": "# create-python-script\n\nFor Python scripts.\n",
    });
    expect((await from(extra(dir)).forAgent()).skills).toMatchObject([
      {
        id: "create-python-script",
        name: "create-python-script",
        description: "For Python scripts.",
        source: "extra",
      },
    ]);
  });

  it("reports invalid skills and continues", async () => {
    const dir = folder({
      "big/SKILL.md": `# big\n${"x".repeat(256_000)}`,
      "fits/SKILL.md": "x".repeat(256_000),
      "broken/SKILL.md": "---\nname: a\n",
      "latin/SKILL.md": Uint8Array.of(0x23, 0x20, 0xe9),
      "a/SKILL.md": named("same"),
      "b/SKILL.md": named("Same"),
      "🙂/SKILL.md": named("🙂"),
      "good/SKILL.md": named("good"),
    });
    mkdirSync(join(dir, "folder/SKILL.md"), { recursive: true });
    const check = await from(extra(dir)).check();
    expect(check.skills.map(({ skill }) => skill.id)).toEqual(["fits", "good", "latin", "same"]);
    expect(check.problems.map(({ code, path }) => `${code} ${path.slice(dir.length + 1)}`)).toEqual([
      "duplicate b/SKILL.md",
      "too_large big/SKILL.md",
      "bad_frontmatter broken/SKILL.md",
      "unreadable folder/SKILL.md",
      "bad_encoding latin/SKILL.md",
      "bad_name 🙂/SKILL.md",
    ]);
    expect(check.ok).toBe(false);
    const [broken] = check.problems.filter(({ code }) => code === "bad_frontmatter");
    expect(broken).toMatchObject({ line: 1, remedy: expect.stringContaining("quotes") });
  });

  it("does not hide other sources if it cannot be read", async () => {
    const dir = folder({ "a/SKILL.md": named("a"), "b/SKILL.md": named("b"), "c/SKILL.md": named("c") });
    const refused = (path: string): void => {
      if (path.startsWith(join(dir, "b/"))) throw Object.assign(new Error("refused"), { code: "EACCES" });
    };
    const fs: SkillFs = {
      ...diskFs,
      stat(path) {
        refused(path);
        return diskFs.stat(path);
      },
    };
    const { skills, problems } = await createSkills({ sources: [extra(dir)], fs, env: {} }).check();
    expect(skills.map(({ skill }) => skill.id)).toEqual(["a", "c"]);
    expect(problems).toMatchObject([
      { code: "unreadable", path: join(dir, "b"), message: "The folder cannot be read: EACCES." },
    ]);
  });

  it("is read in several encodings", async () => {
    const text = "---\ndescription: 天气预报，请用中文回答。\n---\n";
    const utf16 = new Uint8Array(Buffer.from(`\ufeff${text}`, "utf16le"));
    const gb18030 = Uint8Array.from([
      ...Buffer.from("---\ndescription: "),
      0xcc,
      0xec,
      0xc6,
      0xf8,
      0x0a,
      ...Buffer.from("---\n"),
    ]);
    const dir = folder({ "utf16/SKILL.md": utf16, "gb/SKILL.md": gb18030 });
    const check = await from(extra(dir)).check();
    expect(check.skills.map(({ skill }) => skill.description)).toEqual(["天气", "天气预报，请用中文回答。"]);
    expect(check.problems).toMatchObject([
      { code: "bad_encoding", severity: "warning", path: join(dir, "gb/SKILL.md") },
    ]);
  });

  it("finds other spellings of SKILL.md, and prefers the standard one", async () => {
    const dir = folder({ "a/skill.md": named("a"), "b/Skill.md": named("b") });
    writeFileSync(join(dir, "a", "other.md"), named("other"));
    const { skills } = await from(extra(dir)).forAgent();
    expect(skills.map(({ file }) => file.slice(dir.length))).toEqual(["/a/skill.md", "/b/Skill.md"]);
  });

  it("is scanned up to 5,000 folders", async () => {
    const kits = createTree(1_000, 100);
    const { skills, problems } = await createSkills({ sources: [extra("/s")], fs: kits.fs }).check();
    expect(skills.length).toBeGreaterThan(4_900);
    expect(kits.reads()).toBe(skills.length);
    expect(problems).toMatchObject([{ code: "too_many", severity: "warning" }]);
  });

  it("is scanned in slices", async () => {
    const kits = createTree(1, 20, {
      onRead() {
        const end = performance.now() + 6;
        while (performance.now() < end);
      },
    });
    let turns = 0;
    let done = false;
    const other = (): void => {
      turns++;
      if (!done) setImmediate(other);
    };
    setImmediate(other);
    const { skills } = await createSkills({ sources: [extra("/s")], fs: kits.fs }).forAgent();
    done = true;
    expect(skills).toHaveLength(20);
    // Each read takes longer than a slice.
    expect(turns).toBeGreaterThanOrEqual(19);
  });

  it("is read up to 50 MB", async () => {
    const kits = createTree(1, 250, { size: 250_000 });
    const { skills, problems } = await createSkills({ sources: [extra("/s")], fs: kits.fs }).check();
    expect(skills).toHaveLength(200);
    expect(problems).toMatchObject([{ code: "too_many", severity: "warning" }]);
  });

  it("is listed up to 10,000 entries", async () => {
    const dir = folder();
    for (let i = 0; i < 10_001; i++) writeFileSync(join(dir, `f${i}`), "");
    expect(await from(extra(dir)).check()).toMatchObject({
      ok: true,
      problems: [{ code: "too_many", severity: "warning" }],
    });
  });
});

describe("links", () => {
  it("within their source are followed, and links out of it are rejected", async () => {
    const outside = folder({ "secret/SKILL.md": named("secret"), "SKILL.md": named("file") });
    const dir = folder({
      "real/SKILL.md": skill("name: real\ndescription: d"),
      "held/note.md": named("linked-file"),
    });
    symlinkSync(join(outside, "secret"), join(dir, "way-out"));
    symlinkSync(join(dir, "held"), join(dir, "way-round"));
    symlinkSync("note.md", join(dir, "held", "SKILL.md"));
    mkdirSync(join(dir, "file-out"));
    symlinkSync(join(outside, "SKILL.md"), join(dir, "file-out", "SKILL.md"));
    symlinkSync(join(dir, "nowhere"), join(dir, "dangling"));
    symlinkSync(dir, join(dir, "loop"));
    symlinkSync(dir, join(dir, "held", "skills"));
    symlinkSync(dir, join(dir, "skills"));
    const check = await from(extra(dir)).check();
    expect(check.skills.map(({ skill }) => skill.id)).toEqual(["linked-file", "real"]);
    expect(check.problems.map(({ code, path }) => `${code} ${path.slice(dir.length + 1)}`)).toEqual([
      "leaves_root file-out/SKILL.md",
      "leaves_root way-out",
    ]);
  });

  it("cannot lead out of a workspace", async () => {
    const outside = folder({ "secret/SKILL.md": named("secret") });
    const workspaceDir = folder();
    symlinkSync(outside, join(workspaceDir, "skills"));
    const check = await from().check({ workspaceDir });
    expect(check.skills).toEqual([]);
    expect(check.problems).toMatchObject([{ code: "leaves_root", source: "workspace" }]);
  });

  it("may lead to the folder of a source that is not in a workspace", async () => {
    const dotfiles = folder({ "mine/SKILL.md": named("mine") });
    const home = folder();
    symlinkSync(dotfiles, join(home, "skills"));
    expect((await from({ kind: "personal", dir: join(home, "skills") }).forAgent()).skills).toHaveLength(1);
  });

  it("that are created between the check and the read are rejected", async () => {
    const outside = folder({ "SKILL.md": named("secret") });
    const dir = folder({ "a/SKILL.md": named("a") });
    const fs: SkillFs = {
      ...diskFs,
      read: (path, maxBytes, within) => {
        renameSync(join(dir, "a"), join(dir, ".old"));
        symlinkSync(outside, join(dir, "a"));
        return diskFs.read(path, maxBytes, within);
      },
    };
    const check = await createSkills({ sources: [extra(dir)], fs, env: {} }).check();
    expect(check.skills).toEqual([]);
    expect(check.problems).toMatchObject([{ code: "unreadable" }]);
  });
});

describe("scanning again", () => {
  function counted() {
    const counts = { read: 0, stat: 0 };
    const fs: SkillFs = {
      ...diskFs,
      read: (...args) => {
        counts.read++;
        return diskFs.read(...args);
      },
      stat: (path) => {
        counts.stat++;
        return diskFs.stat(path);
      },
    };
    return { counts, fs };
  }

  it("parses only files that changed", async () => {
    const dir = folder({ "a/SKILL.md": named("a"), "b/SKILL.md": named("b"), "c/SKILL.md": named("c") });
    utimesSync(join(dir, "a/SKILL.md"), 1, 1);
    const { counts, fs } = counted();
    const skills = createSkills({ sources: [extra(dir)], fs, env: {} });
    const scan = async () => (await skills.check()).skills.map(({ skill }) => `${skill.id} ${skill.version}`);
    const first = await scan();
    expect(counts.read).toBe(3);
    expect(await scan()).toEqual(first);
    expect(counts.read).toBe(3);

    // The same length, and the time of change set back: still noticed.
    write(dir, { "a/SKILL.md": named("a").replace("Do it.", "Do me.") });
    utimesSync(join(dir, "a/SKILL.md"), 1, 1);
    rmSync(join(dir, "b"), { recursive: true });
    write(dir, { "d/SKILL.md": named("d") });
    const second = await scan();
    expect(second.map((line) => line.split(" ")[0])).toEqual(["a", "c", "d"]);
    expect(second[0]).not.toBe(first[0]);
    expect(second[1]).toBe(first[2]);
    expect(counts.read).toBe(5);
  });

  it("happens only if the last scan is old", async () => {
    const dir = folder({ "a/SKILL.md": named("a") });
    const { counts, fs } = counted();
    let time = 0;
    const skills = createSkills({ sources: [extra(dir)], fs, env: {}, maxAgeMs: 1_000, now: () => time });
    await skills.forAgent();
    const first = counts.stat;
    time = 999;
    write(dir, { "b/SKILL.md": named("b") });
    expect((await skills.forAgent()).skills).toHaveLength(1);
    expect(counts.stat).toBe(first);
    time = 1_000;
    expect((await skills.forAgent()).skills).toHaveLength(2);
    // A clock set back does not keep an old scan for ever.
    time = -5_000;
    write(dir, { "c/SKILL.md": named("c") });
    expect((await skills.forAgent()).skills).toHaveLength(3);
  });

  it("is shared by concurrent callers", async () => {
    const { counts, fs } = counted();
    const dir = folder({ "a/SKILL.md": named("a") });
    const skills = createSkills({ sources: [extra(dir)], fs, env: {} });
    await Promise.all(Array.from({ length: 10 }, () => skills.forAgent()));
    expect(counts.read).toBe(1);
  });

  it("takes at most a twentieth of the time", async () => {
    let time = 0;
    let scans = 0;
    const fs: SkillFs = {
      ...diskFs,
      list: (dir, limit) => {
        scans++;
        time += 500;
        return diskFs.list(dir, limit);
      },
    };
    const skills = createSkills({ sources: [extra(folder())], fs, env: {}, now: () => time });
    await skills.forAgent();
    time = 9_999;
    await skills.forAgent();
    expect(scans).toBe(1);
    time = 10_000;
    await skills.forAgent();
    expect(scans).toBe(2);
  });
});

/** Kits of skills that are on no disk; `onRead` is called for each file. */
function createTree(kits: number, skillsInEach: number, { size = 3, onRead = () => {} } = {}) {
  let reads = 0;
  const folders = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({ name: `${prefix}${i}`, kind: "folder" as const }));
  const fs: SkillFs = {
    list: (dir) => (dir === "/s" ? folders("kit", kits) : folders(`${dir.split("/")[2]}-`, skillsInEach)),
    stat(path) {
      if (/^\/s\/[^/]+\/skills$/.test(path)) return { kind: "folder", size: 0, stamp: "" };
      return /^\/s\/[^/]+\/skills\/.*\/SKILL\.md$/.test(path)
        ? { kind: "file", size, stamp: "1" }
        : undefined;
    },
    realpath: (path) => path,
    read() {
      reads++;
      onRead();
      return new TextEncoder().encode("# a");
    },
  };
  return { fs, reads: () => reads };
}
