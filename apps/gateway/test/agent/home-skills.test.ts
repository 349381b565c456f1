import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { ask, OWNED } from "../support/feishu-talk.ts";
import { exampleConfig, openWorld } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { noCommands } from "../support/no-commands.ts";

it("a skill in the user's home is read and its script runs at the path in the catalogue", async ({
  skip,
}) => {
  if (noCommands !== undefined) return skip(noCommands);
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

it("a skill's configuration sets the environment of commands, and no model sees its key", async ({
  skip,
}) => {
  if (noCommands !== undefined) return skip(noCommands);
  const key = "key-of-the-forecast-0123456789";
  const world = await openWorld();
  world.configure(
    exampleConfig({
      access: OWNED,
      agents: {
        list: [{ id: "coder", tools: { allow: ["read", "exec"] }, skills: { allow: ["forecast", "lost"] } }],
      },
      skills: {
        entries: { forecast: { apiKey: key, env: { UNITS: "metric" } }, lost: { env: { LOST: "1" } } },
      },
    }),
  );
  const write = (name: string, metadata: string): void => {
    const file = join(world.dir, ".agents", "skills", name, "SKILL.md");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(
      file,
      `---\ndescription: About ${name}.\nmetadata: { openclaw: ${metadata} }\n---\nAsk for it.\n`,
    );
  };
  write("forecast", "{ primaryEnv: FORECAST_API_KEY, requires: { bins: [ls], env: [FORECAST_API_KEY] } }");
  // The gateway's own process has it; the commands of agents do not.
  write("lost", "{ requires: { env: [ANTHROPIC_KEY] } }");
  world.script((_, index) => {
    const command = 'echo "units=$UNITS lost=$LOST key=$FORECAST_API_KEY length=${#FORECAST_API_KEY}"';
    return index === 0 ? { toolCalls: [{ name: "exec", input: { command } }] } : { text: "Done." };
  });
  const started = await world.start();
  await ask(started, "What is the weather?");
  const [first, second] = modelRequests(world.anthropic);
  expect(first?.stable).toContain("About forecast.");
  expect(first?.stable).toContain(
    "- lost: Set ANTHROPIC_KEY for it in the configuration (skills.entries.lost.env).",
  );
  expect(JSON.stringify(second?.messages)).toContain(
    `units=metric lost= key=[redacted] length=${key.length}`,
  );
  expect(JSON.stringify(world.anthropic.requests)).not.toContain(key);
});
