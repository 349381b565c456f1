import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { ask, OWNED } from "./feishu-talk.ts";
import { exampleConfig, openWorld } from "./harness.ts";
import { modelRequests } from "./requests.ts";

it("a skill in the home of the user is read where the catalogue says it is", async () => {
  const world = await openWorld();
  const skills = { allow: ["tidy", "unready"] };
  world.configure(
    exampleConfig({ access: OWNED, agents: { list: [{ id: "coder", tools: { allow: ["read"] }, skills }] } }),
  );
  const write = (name: string, requires: string): void => {
    const file = join(world.dir, ".agents", "skills", name, "SKILL.md");
    mkdirSync(dirname(file), { recursive: true });
    const metadata = `metadata: { openclaw: { requires: { config: [${requires}] } } }`;
    writeFileSync(file, `---\ndescription: About ${name}.\n${metadata}\n---\nPut ${name} things away.\n`);
  };
  write("tidy", "channels.feishu.accounts, access.owners");
  write("unready", "channels.discord");
  world.script((body, index) => {
    const location = /<location>([^<]*tidy[^<]*)<\/location>/.exec(JSON.stringify(body))?.[1] ?? "nowhere";
    return index === 0
      ? { toolCalls: [{ name: "read", input: { file_path: location } }] }
      : { text: "Tidy." };
  });
  const started = await world.start();
  await ask(started, "Tidy up");
  const [first, second] = modelRequests(world.anthropic);
  expect(first?.stable).toContain("<location>~/.agents/skills/tidy/SKILL.md</location>");
  // What it requires of the configuration is not there.
  expect(first?.stable).not.toContain("About unready.");
  expect(JSON.stringify(second?.messages)).toContain("Put tidy things away.");
});
