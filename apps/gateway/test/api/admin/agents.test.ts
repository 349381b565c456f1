import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Client, createClient } from "@signalbox/client";
import { expect, it } from "vitest";
import { demoConfig, openWorld, TOKEN } from "../../support/harness.ts";

async function openAgents(agent: object) {
  const world = await openWorld();
  world.configure(demoConfig({ agents: { list: [{ id: "main", ...agent }] } }));
  const { url } = await world.start();
  return {
    url,
    client: createClient({ baseUrl: url, token: TOKEN }),
    workspace: world.home.workspace("main"),
  };
}

it("shows owners the text of the latest prompt without secrets, and others only its sizes", async () => {
  const { url, client, workspace } = await openAgents({});
  writeFileSync(join(workspace, "AGENTS.md"), `Be brief. ${TOKEN}\n`);
  for await (const _ of client.chat("main", "c", "hello"));
  const findSection = async (reader: Client) => {
    const { sections } = await reader.agentPrompt("main");
    return sections.find(({ name }) => name === "workspace-file:AGENTS.md");
  };
  await expect.poll(async () => (await findSection(client))?.text).toContain("Be brief. [redacted]");
  const { token } = await client.addToken({ name: "the-viewer", role: "viewer" });
  const section = await findSection(createClient({ baseUrl: url, token }));
  expect(section?.chars).toBeGreaterThan(0);
  expect(section?.text).toBeUndefined();
});

it("lists and approves the skills of each shard of an agent", async () => {
  const { client, workspace } = await openAgents({ shards: 2 });
  const folder = join(workspace, "shard-2", "skills", "tidy");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "SKILL.md"), "---\nname: tidy\ndescription: Tidies up.\n---\nTidy up.\n");
  const { agents, pending } = await client.skills();
  expect(agents.map(({ agent, shard }) => [agent, shard])).toEqual([
    ["main", "main#1"],
    ["main", "main#2"],
  ]);
  const states = agents.map(({ skills }) => skills.find(({ id }) => id === "tidy")?.state);
  expect(states).toEqual([undefined, "pending"]);
  expect(pending).toMatchObject([{ id: "tidy", agents: ["main#2"] }]);
  await client.approveSkill({ id: "tidy", digest: pending[0]?.digest ?? "" });
  const after = await client.skills();
  expect(after.pending).toEqual([]);
  expect(after.agents[1]?.skills.find(({ id }) => id === "tidy")?.state).toBe("active");
});
