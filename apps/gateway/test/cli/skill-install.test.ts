import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ask, OWNED } from "../support/feishu-talk.ts";
import { exampleConfig, openWorld, type World } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { noCommands } from "../support/no-commands.ts";

/** Notes what it was started with, and brings a program, as npm would. */
const NPM = `#!/bin/sh
{ echo "$@"; env; } > "$(dirname "$0")/asked"
while [ "$1" != "--prefix" ]; do shift; done
printf '#!/bin/sh\\necho it is sunny\\n' > "$2/bin/sunny"
chmod 755 "$2/bin/sunny"
`;

/** Brings the archive that lies beside it, whatever the address. */
const CURL = `#!/bin/sh
while [ "$1" != "--output" ]; do shift; done
mkdir -p "$(dirname "$2")"
cp "$(dirname "$0")/archive.tgz" "$2"
`;

function write(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

async function withSkill(install: string): Promise<{ world: World; bin: string }> {
  const world = await openWorld();
  world.configure(
    exampleConfig({
      access: OWNED,
      agents: { list: [{ id: "coder", tools: { allow: ["read", "exec"] }, skills: { allow: ["sunny"] } }] },
    }),
  );
  const metadata = `metadata: { openclaw: { requires: { bins: [sunny] }, install: ${install} } }`;
  write(
    join(world.home.skillsDir, "sunny", "SKILL.md"),
    `---\ndescription: Tells the weather.\n${metadata}\n---\nRun it.\n`,
  );
  const npm = write(join(world.dir, "bin", "npm"), NPM);
  chmodSync(npm, 0o755);
  return { world, bin: dirname(npm) };
}

function install(world: World, bin: string, ...options: string[]) {
  const PATH = `${bin}:${process.env["PATH"]}`;
  return world.command(["skills", "install", "sunny", ...options], { PATH, OPENAI_API_KEY: "key-of-ours" });
}

describe("signalbox skills install", () => {
  it("shows what would run, runs it once it is agreed to, and agents can use it", async ({ skip }) => {
    if (noCommands !== undefined) return skip(noCommands);
    const { world, bin } = await withSkill(
      "[{ kind: brew, formula: sunny }, { kind: node, package: sunny }]",
    );
    world.script((_, index) =>
      index === 1 ? { toolCalls: [{ name: "exec", input: { command: "sunny" } }] } : { text: "Well." },
    );
    const started = await world.start();
    await ask(started, "What is the weather?");
    const command = `npm install --global --ignore-scripts --prefix ${world.home.programsDir} sunny`;

    const shown = await install(world, bin);
    expect(shown).toMatchObject({ code: 1, err: expect.stringContaining(`\n  ${command}\n`) });
    expect(existsSync(join(bin, "asked"))).toBe(false);

    const done = await install(world, bin, "--yes");
    expect(done).toMatchObject({
      code: 0,
      out: expect.stringContaining("Agents can now use the skill sunny"),
    });
    const asked = readFileSync(join(bin, "asked"), "utf8");
    expect(`npm ${asked.split("\n")[0]}`).toBe(command);
    expect(asked).not.toContain("key-of-ours");

    // A gateway that runs looks for programs once a minute.
    await started.stop();
    const again = await world.start();
    await ask(again, "/new");
    await ask(again, "And now?");
    const [before, after, last] = modelRequests(world.anthropic);
    expect(before?.stable).toContain("- sunny: sunny is not in the sandbox of commands.");
    expect(after?.stable).toContain("<name>sunny</name>");
    expect(JSON.stringify(last?.messages)).toContain("it is sunny");
    const audit = await world.command(["audit", "list", "--json"]);
    expect(audit.out).toContain("installation for the skill sunny");
  });

  it("puts of an archive on the path what the skill needs alone, and nothing where it is another than was said", async () => {
    const dir = mkdtempSync(join(tmpdir(), "archive-"));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    for (const name of ["sunny-1.2/bin/sunny", "git"])
      chmodSync(write(join(dir, "all", name), "#!/bin/sh\n"), 0o755);
    write(join(dir, "all", "completions", "sunny"), "complete sunny\n");
    const archive = join(dir, "archive.tgz");
    execFileSync("tar", ["-czf", archive, "-C", join(dir, "all"), "."]);
    const hash = createHash("sha256").update(readFileSync(archive)).digest("hex");
    const download = "kind: download, url: 'https://sunny.test/s.tgz', archive: tar.gz";
    const { world, bin } = await withSkill(
      `[{ id: other, ${download}, sha256: "${"0".repeat(64)}" }, { id: right, ${download}, sha256: "${hash}" }]`,
    );
    copyFileSync(archive, join(bin, "archive.tgz"));
    chmodSync(write(join(bin, "curl"), CURL), 0o755);
    const programs = join(world.home.programsDir, "bin");

    expect(await install(world, bin, "--yes", "--with", "other")).toMatchObject({
      code: 1,
      err: expect.stringContaining(`# its SHA-256 must be ${"0".repeat(64)}`),
    });
    expect(readdirSync(programs)).toEqual([]);

    expect(await install(world, bin, "--yes", "--with", "right")).toMatchObject({
      code: 0,
      out: expect.stringContaining("Agents can now use the skill sunny"),
    });
    expect(readdirSync(programs)).toEqual(["sunny"]);
  });

  it("stops an archive that unpacks to more than a gigabyte", async () => {
    const { world, bin } = await withSkill(
      "[{ kind: download, url: 'https://x.test/sunny.tgz', archive: tar.gz, bins: [sunny] }]",
    );
    chmodSync(write(join(bin, "curl"), CURL), 0o755);
    write(join(bin, "archive.tgz"), "");
    const tar = `#!/bin/sh\nwhile [ "$1" != "--directory" ]; do shift; done\ntruncate -s 2G "$2/bomb"\nexec sleep 60\n`;
    chmodSync(write(join(bin, "tar"), tar), 0o755);
    expect(await install(world, bin, "--yes")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/This failed: tar .*# at most 1000000000 bytes/),
    });
    expect(readdirSync(join(world.home.programsDir, "bin"))).toEqual([]);
  });

  it.each([
    ["[{ kind: npm, package: --evil }]", "has no install instructions that can be run"],
    ["[{ kind: npm, package: 'https://evil.test/x.tgz' }]", "has no install instructions that can be run"],
    ["[{ kind: download, url: 'http://plain.test/sunny' }]", "has no install instructions that can be run"],
    ["[{ kind: npm, package: sunny, os: [win32] }]", "none of these works on this machine"],
  ])("runs nothing for %s", async (way, reason) => {
    const { world, bin } = await withSkill(way);
    expect(await install(world, bin, "--yes")).toMatchObject({
      code: 1,
      err: expect.stringContaining(reason),
    });
    expect(existsSync(join(bin, "asked"))).toBe(false);
  });
});
