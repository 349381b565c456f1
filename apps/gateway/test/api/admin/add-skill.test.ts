import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Client, createClient } from "@signalbox/client";
import { type Zippable, zipSync } from "fflate";
import { expect, it } from "vitest";
import { demoConfig, openWorld, TOKEN } from "../../support/harness.ts";

const MAIN = { path: "SKILL.md", data: encode("---\ndescription: Writes the standup.\n---\nWrite it.\n") };

function encode(text: string): string {
  return Buffer.from(text).toString("base64");
}

async function openSkills() {
  const world = await openWorld();
  world.configure(demoConfig({ agents: { list: [{ id: "main" }] } }));
  const { url } = await world.start();
  const client = createClient({ baseUrl: url, token: TOKEN });
  const workspace = world.home.workspace("main");
  const add = (files: Parameters<Client["addSkill"]>[0]["files"], name = "standup") =>
    client.addSkill({ agent: "main", name, files });
  return { world, url, client, workspace, folder: join(workspace, "skills"), add };
}

it("adds a skill that no agent can use before an owner approves it", async () => {
  const { client, folder, add } = await openSkills();
  const added = await add([MAIN, { path: "scripts/run.py", data: encode("print(1)\n") }]);
  expect(added).toMatchObject({ id: "standup", dir: join(folder, "standup") });
  expect(readFileSync(join(folder, "standup", "scripts", "run.py"), "utf8")).toBe("print(1)\n");
  const find = async () => (await client.skills()).agents[0]?.skills.find(({ id }) => id === "standup");
  expect((await find())?.state).toBe("pending");
  const [pending] = (await client.skills()).pending;
  expect(pending).toMatchObject({ digest: added.digest, added: ["SKILL.md", "scripts/run.py"] });
  await client.approveSkill({ id: added.id, digest: added.digest });
  expect((await find())?.state).toBe("active");
  const entries = async () => (await client.audit({ kind: "operation" })).entries;
  await expect.poll(async () => (await entries()).map(({ subject }) => subject)).toContain("skill: standup");
});

it("unpacks a ZIP file, which then waits for approval, and writes nothing of a refused one", async () => {
  const { world, client, folder } = await openSkills();
  const toBase64 = (files: Zippable) => Buffer.from(zipSync(files)).toString("base64");
  const main = Buffer.from(MAIN.data, "base64");
  const upload = (zip: string) => client.addSkill({ agent: "main", name: "standup", zip });
  for (const zip of [
    toBase64({ "standup/SKILL.md": main, "standup/../../AGENTS.md": main }),
    toBase64({ "standup/SKILL.md": main, "standup/bomb.txt": new Uint8Array(2_000_000) }),
    toBase64({ "standup/notes.md": main }),
    "no base64!",
  ])
    await expect(upload(zip)).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:bad_request|too_large)$/),
    });
  for (const both of [{}, { zip: toBase64({ "SKILL.md": main }), files: [MAIN] }])
    await expect(client.addSkill({ agent: "main", name: "standup", ...both })).rejects.toMatchObject({
      message: "Send either the files of the skill or a ZIP file.",
    });
  expect(existsSync(folder)).toBe(false);

  const file = join(world.dir, "standup.zip");
  writeFileSync(file, zipSync({ "any/SKILL.md": main, "any/scripts/run.py": main }));
  expect(await world.command(["skills", "add", file])).toMatchObject({ code: 0 });
  const [pending] = (await client.skills()).pending;
  expect(pending).toMatchObject({ id: "standup", added: ["SKILL.md", "scripts/run.py"] });
  writeFileSync(join(world.dir, "standup.tar"), "x");
  const refused = await world.command(["skills", "add", join(world.dir, "standup.tar")]);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("neither a folder nor a ZIP file") });
});

it("shows how to install the programs that a skill lacks once it is approved", async () => {
  const { client, add } = await openSkills();
  const metadata = {
    openclaw: {
      requires: { bins: ["no-such-program"] },
      install: [
        { kind: "node", package: "no-such-package" },
        { kind: "brew", formula: "elsewhere", os: ["no-such-platform"] },
      ],
    },
  };
  const main = `---\ndescription: x\nmetadata: ${JSON.stringify(metadata)}\n---\nUse it.\n`;
  const added = await add([{ path: "SKILL.md", data: encode(main) }]);
  const find = async () => (await client.skills()).agents[0]?.skills.find(({ id }) => id === "standup");
  expect(await find()).not.toHaveProperty("install");
  await client.approveSkill({ id: added.id, digest: added.digest });
  expect(await find()).toMatchObject({
    state: "excluded",
    reasons: [expect.stringContaining("no-such-program is not")],
    install: { command: "signalbox skills install standup", methods: ["npm: no-such-package"] },
  });
});

it("refuses names and paths that lead elsewhere, hide or collide, and writes nothing", async () => {
  const { workspace, folder, add } = await openSkills();
  const before = readdirSync(workspace).toSorted();
  for (const name of ["../up", "a/b", "..", ".hidden", "Upper", "a\u202eb", "a b", "con:", "a."])
    await expect(add([MAIN], name), name).rejects.toMatchObject({ code: "bad_request" });
  for (const path of [
    "../AGENTS.md",
    "a/../../b",
    "/etc/passwd",
    "a//b",
    "./a",
    ".git/config",
    "a/.env",
    "a\\..\\b",
    "a\0b",
    "a\u202eb",
    "a\nb",
    "b.",
    "C:x",
    "skill.md",
    "1/2/3/4/5/6/7/8/9",
  ])
    await expect(add([MAIN, { path, data: "" }]), path).rejects.toMatchObject({ code: "bad_request" });
  await expect(add([{ path: "sub/SKILL.md", data: MAIN.data }])).rejects.toMatchObject({
    code: "bad_request",
    message: "The folder has no SKILL.md.",
  });
  await expect(add([MAIN, { path: "a", data: "no base64!" }])).rejects.toMatchObject({ code: "bad_request" });
  expect(existsSync(folder)).toBe(false);
  expect(readdirSync(workspace).toSorted()).toEqual(before);
});

it("refuses too many files and too many bytes", async () => {
  const { folder, add } = await openSkills();
  const many = Array.from({ length: 100 }, (_, index) => ({ path: `${index}.md`, data: "" }));
  await expect(add([MAIN, ...many])).rejects.toMatchObject({ code: "bad_request" });
  const half = { data: encode("x".repeat(300_000)) };
  await expect(add([MAIN, { path: "a.txt", ...half }, { path: "b.txt", ...half }])).rejects.toMatchObject({
    code: "too_large",
    message: expect.stringContaining("600 kB"),
  });
  const huge = { path: "a.txt", data: encode("x".repeat(590_000)) };
  await expect(add([MAIN, huge, { path: "b.txt", data: huge.data }])).rejects.toMatchObject({
    status: 413,
  });
  expect(existsSync(folder)).toBe(false);
});

it("replaces no folder, and keeps nothing of a folder that is not a valid skill", async () => {
  const { folder, add } = await openSkills();
  await add([MAIN]);
  await expect(add([{ ...MAIN, data: encode("Other.\n") }])).rejects.toMatchObject({ code: "conflict" });
  expect(readFileSync(join(folder, "standup", "SKILL.md"), "utf8")).toContain("Write it.");
  const broken = { path: "SKILL.md", data: encode("---\nname: x\nno end\n") };
  await expect(add([broken, { path: "a/b/c.md", data: "" }], "broken")).rejects.toMatchObject({
    code: "bad_request",
    message: expect.stringContaining("never closed"),
  });
  // A file in the place of a folder fails while the files are written.
  const clash = [MAIN, { path: "a", data: "" }, { path: "a/b", data: "" }];
  await expect(add(clash, "clash")).rejects.toMatchObject({ code: "bad_request" });
  expect(readdirSync(folder)).toEqual(["standup"]);
  const [first, second] = await Promise.allSettled([add([MAIN], "twice"), add([MAIN], "twice")]);
  expect([first.status, second.status].toSorted()).toEqual(["fulfilled", "rejected"]);
});

it("writes nothing through a link that leads out of the workspace", async () => {
  const { world, folder, add } = await openSkills();
  const outside = join(world.dir, "outside");
  mkdirSync(outside);
  symlinkSync(outside, folder);
  await expect(add([MAIN])).rejects.toMatchObject({ code: "bad_request" });
  expect(readdirSync(outside)).toEqual([]);
});

it("adds skills only for owners and to agents that exist", async () => {
  const { client, url, folder } = await openSkills();
  for (const role of ["viewer", "operator", "member"] as const) {
    const { token } = await client.addToken({ name: role, role });
    const holder = createClient({ baseUrl: url, token });
    const added = holder.addSkill({ agent: "main", name: "standup", files: [MAIN] });
    await expect(added, role).rejects.toMatchObject({ code: "forbidden" });
  }
  const elsewhere = client.addSkill({ agent: "nobody", name: "standup", files: [MAIN] });
  await expect(elsewhere).rejects.toMatchObject({ code: "not_found" });
  expect(existsSync(folder)).toBe(false);
});

it("`skills add` sends a folder to the running gateway, and refuses links", async () => {
  const { world, client } = await openSkills();
  const dir = join(world.dir, "standup");
  mkdirSync(join(dir, ".git"), { recursive: true });
  writeFileSync(join(dir, ".git", "config"), "x");
  expect(await world.command(["skills", "add", dir])).toMatchObject({ code: 1 });
  writeFileSync(join(dir, "SKILL.md"), "Write the standup.\n");
  symlinkSync("/etc/hostname", join(dir, "notes.md"));
  const refused = await world.command(["skills", "add", dir]);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("notes.md is a link") });
  rmSync(join(dir, "notes.md"));
  const added = await world.command(["skills", "add", dir]);
  expect(added).toMatchObject({ code: 0, out: expect.stringContaining("waits for approval") });
  expect((await client.skills()).pending).toMatchObject([{ id: "standup", added: ["SKILL.md"] }]);
});
