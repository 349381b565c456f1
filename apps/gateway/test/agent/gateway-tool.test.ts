import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { textMessage } from "@signalbox/testkit/feishu";
import { expect, it, onTestFinished } from "vitest";
import { from, OWNED, said } from "../support/feishu-talk.ts";
import {
  eventually,
  exampleConfig,
  LI,
  openWorld,
  type Started,
  TOKEN,
  type World,
  ZHANG,
} from "../support/harness.ts";

const AGENTS = {
  defaults: { model: "anthropic/claude-sonnet-4-6" },
  list: [{ id: "coder", tools: { allow: ["gateway"] } }],
};
const PROPOSAL = { action: "propose", key: "agents.defaults.model", value: "anthropic/claude-haiku-4-5" };

async function world(...inputs: object[]): Promise<{ world: World; started: Started }> {
  const opened = await openWorld();
  opened.configure(exampleConfig({ access: OWNED, agents: AGENTS }));
  opened.script([...inputs.map((input) => ({ toolCalls: [{ name: "gateway", input }] })), { text: "Done." }]);
  return { world: opened, started: await opened.start() };
}

/** What the model was told of its last call. */
function told({ anthropic }: World): string {
  const body = anthropic.requests.at(-1)?.body;
  const messages = body !== null && typeof body === "object" && "messages" in body ? body.messages : [];
  return JSON.stringify(Array.isArray(messages) ? messages.at(-1) : undefined);
}

const configOf = ({ home }: World): string => readFileSync(home.configFile, "utf8");

it("shows an owner the gateway's state and configuration without secrets", async () => {
  const { world: opened, started } = await world(
    { action: "status" },
    { action: "config" },
    { action: "config", key: "agents.defaults.model" },
  );
  await started.post(textMessage("how do you do?", from(ZHANG)));
  await started.settled();
  const all = JSON.stringify(opened.anthropic.requests.at(-1)?.body);
  expect(all).toMatch(/accounts:.*feishu/);
  expect(all).toMatch(/appSecret: \\?"?\[redacted/);
  expect(told(opened)).toContain("anthropic/claude-sonnet-4-6");
  for (const name of ["FEISHU_SECRET", "ANTHROPIC_KEY"]) expect(all).not.toContain(opened.env[name] ?? name);
  expect(all).not.toContain(TOKEN);
});

it("changes the configuration exactly as shown after an owner has approved it", async () => {
  const { world: opened, started } = await world(PROPOSAL);
  await started.post(textMessage("use the cheaper model", from(ZHANG)));
  await eventually(() => said(opened).length === 1, "an owner is asked");
  const question = said(opened)[0] ?? "";
  for (const line of [
    "agents.defaults.model:",
    "- anthropic/claude-sonnet-4-6",
    "+ anthropic/claude-haiku-4-5",
  ])
    expect(question).toContain(line);
  const before = configOf(opened);
  expect(before).not.toContain("haiku");
  const [approval] = await started.gateway.service.approvals();
  await started.gateway.service.decideApproval(approval?.id ?? "", "allow", "test");
  await started.settled();
  expect(configOf(opened)).toBe(before.replace("claude-sonnet-4-6", "claude-haiku-4-5"));
  expect(told(opened)).toContain("An owner approved it");
});

it("changes nothing if an owner denies it", async () => {
  const { world: opened, started } = await world(PROPOSAL);
  const before = configOf(opened);
  await started.post(textMessage("use the cheaper model", from(ZHANG)));
  await eventually(() => said(opened).length === 1, "an owner is asked");
  const [approval] = await started.gateway.service.approvals();
  await started.gateway.service.decideApproval(approval?.id ?? "", "deny", "test");
  await started.settled();
  expect(configOf(opened)).toBe(before);
});

it("rejects an invalid change or a secret without asking an owner", async () => {
  const { world: opened, started } = await world(
    { action: "propose", key: "agents.defaults.model", value: 7 },
    { action: "propose", key: "gateway.auth.token", value: "a-token-of-the-models-own" },
    { action: "propose", value: 1 },
  );
  const before = configOf(opened);
  await started.post(textMessage("change it", from(ZHANG)));
  await started.settled();
  const all = JSON.stringify(opened.anthropic.requests.at(-1)?.body);
  for (const why of ["Not changed: agents.defaults.model", "Secrets cannot be set here", "needs the `key`"])
    expect(all).toContain(why);
  expect(said(opened)).toEqual(["Done."]);
  expect(configOf(opened)).toBe(before);
});

it("runs no program and reads no file of a proposal before an owner has approved it", async () => {
  const key = "models.providers.anthropic.apiKey";
  const planted = join(tmpdir(), `planted-${randomUUID()}`);
  onTestFinished(() => rmSync(planted, { force: true }));
  const { world: opened, started } = await world(
    { action: "propose", key, value: { command: ["touch", planted] } },
    { action: "propose", key, value: { file: "no-such-file" } },
  );
  await started.post(textMessage("change it", from(ZHANG)));
  for (const shown of [`- touch\n+   - ${planted}`, "+ file: no-such-file"]) {
    await eventually(() => said(opened).at(-1)?.includes(shown) === true, "an owner is asked");
    const [approval] = await started.gateway.service.approvals();
    await started.gateway.service.decideApproval(approval?.id ?? "", "deny", "test");
  }
  await started.settled();
  expect(existsSync(planted)).toBe(false);
});

it("shows a change requested by a member only to owners in private", async () => {
  const { world: opened, started } = await world(PROPOSAL);
  await started.post(textMessage("use the cheaper model", { ...from(LI), chatId: "oc_li" }));
  await eventually(() => said(opened).length === 2, "it is asked about");
  const toMember = said(opened).filter((text) => text.includes("waiting for an owner"));
  expect(toMember).toHaveLength(1);
  expect(toMember[0]).not.toContain("claude");
  const [toOwner] = said(opened).filter((text) => !toMember.includes(text));
  expect(toOwner).toContain("- anthropic/claude-sonnet-4-6");
  const [approval] = await started.gateway.service.approvals();
  expect(approval?.action).toContain("- anthropic/claude-sonnet-4-6");
  await started.post(textMessage(`/approve ${approval?.id}`, from(ZHANG)));
  await eventually(() => said(opened).length === 3, "an owner is shown it");
  expect(said(opened)[2]).toContain("- anthropic/claude-sonnet-4-6");
  await started.gateway.service.decideApproval(approval?.id ?? "", "allow", "test");
  await started.settled();
  expect(configOf(opened)).toContain("claude-haiku-4-5");
});

it("shows the configuration to a member only after an owner's approval", async () => {
  const { world: opened, started } = await world({ action: "config" });
  await started.post(textMessage("what is configured?", { ...from(LI), chatId: "oc_li" }));
  await eventually(() => said(opened).length > 0, "an owner is asked, or it is refused");
  expect(JSON.stringify(opened.anthropic.requests.at(-1)?.body)).not.toContain("appSecret");
});
