import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSkills, getInstallCommands, type Skill, type SkillInstall } from "../src/index.ts";
import { folder, skill } from "./folders.ts";

/** A skill that requires a program, and a name that could be a path. */
function needing(skill: Skill): Skill {
  return { ...skill, requires: { ...skill.requires, bins: ["needed", "../x"] } };
}

/** Returns the commands for the install instructions of a skill. */
async function getCommands(install: string): Promise<string[][]> {
  const text = skill(`description: d\nmetadata: { openclaw: { install: ${install} } }`);
  const dir = folder({ "a/SKILL.md": text });
  const { skills, problems } = await createSkills({ sources: [{ kind: "bundled", dir }] }).forAgent();
  expect(problems).toEqual([]);
  return skills.flatMap((each) =>
    each.install.map((way) =>
      getInstallCommands(way, needing(each), "/p").map(({ program, args, env }) =>
        [...Object.entries(env).map(([name, value]) => `${name}=${value}`), program, ...args].join(" "),
      ),
    ),
  );
}

const CURL = "curl --fail --location --proto =https --max-filesize 200000000 --create-dirs --output";

describe("install instructions", () => {
  it.each([
    ["{ kind: brew, formula: steipete/tap/gog }", ["brew install steipete/tap/gog"]],
    [
      "{ kind: node, package: '@scope/x@1.2.3' }",
      ["npm install --global --ignore-scripts --prefix /p @scope/x@1.2.3"],
    ],
    ["{ kind: go, module: github.com/a/b/cmd/c }", ["GOBIN=/p/bin go install github.com/a/b/cmd/c@latest"]],
    [
      "{ kind: uv, package: yt-dlp }",
      [
        "UV_TOOL_BIN_DIR=/p/bin UV_TOOL_DIR=/p/uv/tools UV_PYTHON_INSTALL_DIR=/p/uv/python uv tool install yt-dlp",
      ],
    ],
    [
      "{ kind: download, url: 'https://x.test/dl/tool-linux', bins: [tool] }",
      [
        `${CURL} /p/downloads/a/tool-linux https://x.test/dl/tool-linux`,
        "install -m 755 /p/downloads/a/tool-linux /p/bin/tool",
      ],
    ],
    [
      "{ kind: download, url: 'https://x.test/t.tar.gz', archive: tar.gz, stripComponents: 1, bins: [t] }",
      [
        `${CURL} /p/downloads/a/t.tar.gz https://x.test/t.tar.gz`,
        "rm -rf /p/skills/a/c6a0edc87696e825",
        "mkdir -p /p/skills/a/c6a0edc87696e825",
        "tar --extract --no-same-owner --no-same-permissions --file /p/downloads/a/t.tar.gz --directory /p/skills/a/c6a0edc87696e825 --strip-components=1",
        "find /p/skills/a/c6a0edc87696e825 ! -type f ! -type d ! -type l -delete",
        "chmod -R a-s /p/skills/a/c6a0edc87696e825",
        "find /p/skills/a/c6a0edc87696e825 -type f -perm -u+x -name t -exec ln -sf {} /p/bin/t ; -quit",
      ],
    ],
    [
      "{ kind: download, url: 'https://x.test/t.zip', archive: zip }",
      [
        `${CURL} /p/downloads/a/t.zip https://x.test/t.zip`,
        "rm -rf /p/skills/a/74d4259e5e8cfb63",
        "mkdir -p /p/skills/a/74d4259e5e8cfb63",
        "unzip -o /p/downloads/a/t.zip -d /p/skills/a/74d4259e5e8cfb63",
        "find /p/skills/a/74d4259e5e8cfb63 ! -type f ! -type d ! -type l -delete",
        "chmod -R a-s /p/skills/a/74d4259e5e8cfb63",
        "find /p/skills/a/74d4259e5e8cfb63 -type f -perm -u+x -name needed -exec ln -sf {} /p/bin/needed ; -quit",
      ],
    ],
  ])("%s", async (way, commands) => {
    expect(await getCommands(`[${way}]`)).toEqual([commands]);
  });

  it.each([
    ["archive: zip", "https://x.test/latest?os=linux", "unzip"],
    ["extract: true", "https://x.test/t.ZIP", "unzip"],
    ["extract: true", "https://x.test/t.tgz", "tar"],
    ["archive: tar.gz", "https://x.test/t.zip", "tar"],
    ["archive: gzip", "https://x.test/t", "tar"],
  ])("unpacks %s of %s with %s", async (said, url, program) => {
    const [commands = []] = await getCommands(`[{ kind: download, url: '${url}', ${said} }]`);
    expect(commands.map((command) => command.split(" ")[0])).toContain(program);
  });

  it.each([
    "{ kind: brew, formula: --force }",
    "{ kind: node, package: 'git+ssh://x.test/y' }",
    "{ kind: node, package: ../here }",
    "{ kind: node, package: 'x y' }",
    "{ kind: go, module: './cmd' }",
    "{ kind: uv, package: '-rrequirements.txt' }",
    "{ kind: download, url: 'http://x.test/t' }",
    "{ kind: download, url: 'https://me:secret@x.test/t' }",
    "{ kind: download, url: 'https://x.test/t', bins: ['../../etc/x'] }",
    "{ kind: download, url: 'https://x.test/t', sha256: abc }",
    "{ kind: apt, package: x }",
    "3",
  ])("rejects %s", async (way) => {
    expect(await getCommands(`[${way}]`)).toEqual([]);
  });

  it("ignores instructions that are not a list", async () => {
    expect(await getCommands("brew")).toEqual([]);
  });
});

describe("an archive", () => {
  const owner = { id: "a", requires: { bins: [] } };

  /** Instructions for a program in an archive. */
  function archived(program: string): SkillInstall {
    const url = `https://x.test/${program}.tar`;
    return {
      kind: "download",
      id: "download",
      bins: [program],
      os: [],
      url,
      archive: { format: "tar", stripComponents: 0 },
    };
  }

  /** Runs install commands with an archive of these files as the download. */
  function install(way: SkillInstall, into: string, files: Readonly<Record<string, string>>): void {
    const [download, ...rest] = getInstallCommands(way, owner, into);
    const file = download?.args.find((arg) => arg.startsWith(join(into, "downloads"))) ?? "";
    mkdirSync(dirname(file), { recursive: true });
    mkdirSync(join(into, "bin"), { recursive: true });
    execFileSync("tar", ["--create", "--mode=755", "--file", file, "--directory", folder(files), "."]);
    for (const { program, args } of rest) execFileSync(program, args);
  }

  /** A program that prints the file next to it. */
  const says = '#!/bin/sh\ncat "$(dirname "$(readlink -f "$0")")/words"\n';
  const said = (program: string, into: string): string =>
    execFileSync(join(into, "bin", program), { encoding: "utf8" });

  it("keeps no set-id bits, named pipes or devices", () => {
    const into = folder();
    const from = folder({ one: says, words: "first" });
    chmodSync(join(from, "one"), 0o6755);
    execFileSync("mkfifo", [join(from, "pipe")]);
    const [download, ...rest] = getInstallCommands(archived("one"), owner, into);
    const file = download?.args.find((arg) => arg.startsWith(join(into, "downloads"))) ?? "";
    mkdirSync(dirname(file), { recursive: true });
    mkdirSync(join(into, "bin"), { recursive: true });
    execFileSync("tar", ["--create", "--file", file, "--directory", from, "."]);
    for (const { program, args } of rest) execFileSync(program, args);
    expect(said("one", into)).toBe("first");
    const program = realpathSync(join(into, "bin/one"));
    expect(statSync(program).mode & 0o7000).toBe(0);
    expect(readdirSync(dirname(program)).toSorted()).toEqual(["one", "words"]);
  });

  it("has a size limit while it is unpacked", () => {
    const limits = getInstallCommands(archived("one"), owner, "/p").flatMap(({ program, limit }) =>
      limit === undefined ? [] : [[program, limit.bytes, limit.folder.startsWith("/p/skills/a/")]],
    );
    expect(limits).toEqual([["tar", 1_000_000_000, true]]);
  });

  it("keeps the programs of another download", () => {
    const into = folder();
    install(archived("one"), into, { one: says, words: "first" });
    install(archived("two"), into, { two: says, words: "second" });
    expect([said("one", into), said("two", into)]).toEqual(["first", "second"]);
  });

  it.each([
    ["1", "2"],
    ["2", "1"],
  ])("takes the place of what it held before: version %s, then %s", (earlier, later) => {
    const into = folder();
    for (const version of [earlier, later])
      install(archived("one"), into, { [`${version}/one`]: says, [`${version}/words`]: version });
    expect(said("one", into)).toBe(later);
  });
});
