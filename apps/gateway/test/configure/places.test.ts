import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "@signalbox/config";
import { locateHome } from "@signalbox/home";
import { createVault } from "@signalbox/redaction";
import { expect, it, onTestFinished } from "vitest";
import { createSetup } from "../../src/configure/create-setup.ts";
import { PACKAGES } from "./packages.ts";

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** What is wrong with a configuration: where, and in which line. */
async function problemsOf(text: string): Promise<unknown[]> {
  const dir = mkdtempSync(join(tmpdir(), "setup-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const { problems } = await createSetup({
    home: locateHome(dir, {}),
    loaded: loadConfig({ file: "signalbox.yaml", text, env: {} }),
    env: {},
    vault: createVault(),
    packages: PACKAGES,
    channels: [],
    ownChannels: [],
    tools: [],
    skillsDir: join(dir, "bundled"),
    logger: () => SILENT,
  });
  return problems.map(({ path, line }) => [path, line]);
}

it("names an agent's line, also behind an agent that was left out", async () => {
  const text = `agents:
  list:
    - id: "no id"
    - id: coder
      workspaceDir: /nowhere/at/all
`;
  expect(await problemsOf(text)).toEqual([
    ["agents.list[0].id", 3],
    ["agents.list[1].workspaceDir", 5],
  ]);
});

it("names the list in which a tool or a skill stands that there is not", async () => {
  const text = `agents:
  defaults:
    tools: { deny: [exce] }
    skills: { deny: [none-such] }
  list:
    - id: coder
      tools:
        allow: [read]
        roles: { guest: { allow: [raed] } }
        ask: { wirte: always }
      skills: { allow: [] }
`;
  expect(await problemsOf(text)).toEqual([
    ["agents.defaults.tools.deny", 3],
    ["agents.defaults.skills.deny", 4],
    ["agents.list[0].tools.roles.guest.allow", 9],
    ["agents.list[0].tools.ask.wirte", 10],
  ]);
});
