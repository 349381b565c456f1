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
