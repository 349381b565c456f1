import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { ask, OWNED } from "./feishu-talk.ts";
import { exampleConfig, openWorld } from "./harness.ts";
import { modelRequests } from "./requests.ts";

it("a skill in the home of the user is read, and its script run, where the catalogue says it is", async () => {
  const world = await openWorld();
  const skills = { allow: ["tidy", "unready"] };
  world.configure(
    exampleConfig({
      access: OWNED,
      agents: { list: [{ id: "coder", tools: { allow: ["read", "exec"] }, skills }] },
    }),
  );
  const write = (name: string, requires: string): void => {
    const file = join(world.dir, ".agents", "skills", name, "SKILL.md");
    mkdirSync(dirname(file), { recursive: true });
    const metadata = `metadata: { openclaw: { requires: { config: [${requires}] } } }`;
    writeFileSync(file, `---\ndescription: About ${name}.\n${metadata}\n---\nPut ${name} things away.\n`);
  };
  write("tidy", "channels.feishu.accounts, access.owners");
  write("unready", "channels.discord");
  writeFileSync(join(world.dir, ".agents", "skills", "tidy", "tidy.sh"), "echo swept\n");
  world.script((body, index) => {
    const location = /<location>([^<]*tidy[^<]*)<\/location>/.exec(JSON.stringify(body))?.[1] ?? "nowhere";
    const command = `sh ${location.replace("SKILL.md", "tidy.sh")}`;
    if (index === 0) return { toolCalls: [{ name: "read", input: { file_path: location } }] };
    return index === 1 ? { toolCalls: [{ name: "exec", input: { command } }] } : { text: "Tidy." };
  });
  const started = await world.start();
  await ask(started, "Tidy up");
  const [first, second, third] = modelRequests(world.anthropic);
  expect(first?.stable).toContain(`<location>${world.dir}/.agents/skills/tidy/SKILL.md</location>`);
  // What it requires of the configuration is not there.
  expect(first?.stable).not.toContain("About unready.");
  expect(JSON.stringify(second?.messages)).toContain("Put tidy things away.");
  expect(JSON.stringify(third?.messages)).toContain("swept");
});
