import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { estimateTokens } from "@signalbox/agent-core";
import { textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { ask, from, OWNED, PYTHON_SKILL } from "../support/feishu-talk.ts";
import { exampleConfig, LI, openWorld, type Started, type World, ZHANG } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

const SEED_TOOLS = ["read", "write", "edit", "ls", "exec", "message"];

/** A gateway that starts for the first time, with a skill in its home. */
async function openFresh(agent: Record<string, unknown> = {}): Promise<{ world: World; started: Started }> {
  const world = await openWorld();
  const coder = { id: "coder", model: "anthropic/claude-sonnet-4-6", tools: { allow: SEED_TOOLS }, ...agent };
  world.configure(exampleConfig({ access: OWNED, agents: { list: [coder] } }));
  const skill = join(world.home.skillsDir, "create-python-script");
  mkdirSync(skill, { recursive: true });
  writeFileSync(join(skill, "SKILL.md"), PYTHON_SKILL);
  return { world, started: await world.start() };
}

const volatileOf = (world: World) =>
  modelRequests(world.anthropic).map(({ body }) => body.system[1]?.text ?? "");
const FIRST = "## First conversation";

describe("a new agent", () => {
  it.each(["en", "zh"])("is told of itself in %s, with a hello under 2,500 tokens", async (language) => {
    const { world, started } = await openFresh({ language });
    world.script([{ text: "Hello!" }]);
    await started.post(textMessage("hello", from(ZHANG)));
    await started.settled();
    const [request] = modelRequests(world.anthropic);
    expect(request?.tools).toEqual(SEED_TOOLS);
    expect(request?.stable).toContain("<available_skills>");
    expect(request?.stable).toContain("## Documentation");
    expect(request?.stable).toContain(language === "zh" ? "# 性格" : "# Character");
    expect(volatileOf(world)[0]).toContain(FIRST);
    const body = request?.body;
    const texts = [...(body?.system ?? []), ...(body?.messages ?? []), ...(body?.tools ?? [])];
    expect(texts.reduce((sum, one) => sum + estimateTokens(JSON.stringify(one)), 0)).toBeLessThan(2_500);
  });

  it("asks its owner for an introduction until it has saved one", async () => {
    const { world, started } = await openFresh();
    const workspace = world.home.workspace("coder");
    world.script([
      { text: "Hello! What may I call you?" },
      { toolCalls: [{ name: "write", input: { file_path: "USER.md", content: "Call her Ann." } }] },
      { text: "Hello Ann." },
      { text: "Yes, Ann?" },
      { text: "Still here." },
    ]);
    await ask(started, "hello");
    await ask(started, "I am Ann");
    expect(existsSync(join(workspace, "BOOTSTRAP.md"))).toBe(true);
    await ask(started, "are you there?");
    expect(existsSync(join(workspace, "BOOTSTRAP.md"))).toBe(false);
    expect(readdirSync(workspace)).toContain("USER.md");
    await ask(started, "/new and again");
    const told = volatileOf(world).map((text) => text.includes(FIRST));
    expect(told).toEqual([true, true, true, false, false]);
  });

  it("does not ask other people, and keeps asking its owner", async () => {
    const { world, started } = await openFresh();
    world.script(() => ({ text: "Hello!" }));
    await ask(started, "hello", LI);
    await ask(started, "hello");
    expect(volatileOf(world).map((text) => text.includes(FIRST))).toEqual([false, true]);
  });

  it("keeps files that an owner wrote, and does not start over in an existing workspace", async () => {
    const { world, started } = await openFresh();
    const soul = join(world.home.workspace("coder"), "SOUL.md");
    writeFileSync(soul, "Be a pirate.");
    await started.stop();
    await world.start();
    expect(readFileSync(soul, "utf8")).toBe("Be a pirate.");
  });
});
