import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "@signalbox/config";
import { locateHome } from "@signalbox/home";
import { createPins } from "@signalbox/skills";
import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { resolveAgents } from "../../src/configure/agents.ts";
import { importSkillPins, openSkillPins } from "../../src/configure/skill-pins.ts";
import { resolveSkills } from "../../src/configure/skills.ts";

it("names the database and the remedy if skills cannot be pinned", async () => {
  const { home, skills } = await resolve();
  const kv = { get: async () => undefined, set: () => Promise.reject(new Error("the disk is full")) };
  await expect(skills.pinFirstSeen(openSkillPins(kv, home))).rejects.toMatchObject({
    code: "cannot_write",
    message: expect.stringMatching(/^Skills cannot be pinned in \S+signalbox.db: the disk is full\. Check/),
  });
});

it("keeps the pins of a home whose earlier version stored them in files", async () => {
  const store = await openStore({ path: ":memory:" });
  onTestFinished(() => store.close());
  const before = await resolve();
  const pinned = new Map<string, unknown>();
  const files = {
    get: async (_: string, key: string) => pinned.get(key),
    set: async (_: string, key: string, value: unknown) => void pinned.set(key, value),
  };
  // An earlier version used absolute paths.
  await before.skills.pinFirstSeen(createPins(files));
  mkdirSync(before.home.skillPinsDir);
  for (const [key, value] of pinned)
    writeFileSync(join(before.home.skillPinsDir, `${key}.json`), JSON.stringify(value));
  const { home, skills, agent } = await resolve(before.home.dir);
  writeFileSync(join(home.skillsDir, "tea", "SKILL.md"), `${TEA}Add gin.\n`);
  await importSkillPins(store.kv, home);
  await skills.pinFirstSeen(openSkillPins(store.kv, home));
  expect(existsSync(home.skillPinsDir)).toBe(false);
  expect((await skills.pending(agent)).map(({ skill }) => skill.id)).toEqual(["tea"]);
});

it("does not pin a changed skill as new on another node", async () => {
  const store = await openStore({ path: ":memory:" });
  onTestFinished(() => store.close());
  const [one, two] = [await resolve(), await resolve()];
  await one.skills.pinFirstSeen(openSkillPins(store.kv, one.home));
  writeFileSync(join(two.home.skillsDir, "tea", "SKILL.md"), `${TEA}Add gin.\n`);
  await two.skills.pinFirstSeen(openSkillPins(store.kv, two.home));
  expect(await one.skills.pending(one.agent)).toEqual([]);
  expect((await two.skills.pending(two.agent)).map(({ skill }) => skill.id)).toEqual(["tea"]);
});

const TEA = "---\nname: tea\ndescription: Makes tea.\n---\nBoil water.\n";

/** Resolves the skills of a home that contains one, which is created if none is given. */
async function resolve(existing?: string) {
  const dir = existing ?? mkdtempSync(join(tmpdir(), "setup-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const home = locateHome(dir, {});
  const skill = join(home.skillsDir, "tea");
  mkdirSync(skill, { recursive: true });
  writeFileSync(join(skill, "SKILL.md"), TEA);
  const loaded = loadConfig({ file: "signalbox.yaml", text: "", env: {} });
  const agents = resolveAgents(loaded, home);
  const env = { HOME: dir };
  const skills = await resolveSkills({ loaded, home, agents, env, bundledDir: join(dir, "none") });
  const [agent] = agents.all;
  if (agent === undefined) throw new Error("no agent");
  return { home, skills, agent };
}
