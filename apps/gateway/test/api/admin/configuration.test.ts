import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Client, createClient } from "@signalbox/client";
import { describe, expect, it } from "vitest";
import { demoConfig, exampleConfig, KEY, openWorld, TOKEN, type World } from "../../support/harness.ts";

async function openConfigured(config: Parameters<World["configure"]>[0]) {
  const world = await openWorld();
  world.configure(config);
  const { url, gateway } = await world.start();
  const client = createClient({ baseUrl: url, token: TOKEN });
  const read = (): string => readFileSync(world.home.configFile, "utf8");
  return { world, gateway, client, url, read };
}

async function editTo(client: Client, edit: (text: string) => string) {
  const { text, revision } = await client.configuration();
  return { revision, text: edit(text) };
}

describe("the configuration over the API", () => {
  it("is read without secrets, changed, and in effect at once", async () => {
    const { client, read } = await openConfigured(`# mine
gateway: { port: 0, auth: { token: ${TOKEN} }, logLevel: warn }
models: { providers: { anthropic: { api: anthropic-messages, apiKey: ${KEY} } } }
agents: { list: [{ id: main }] } # the first
`);
    const shown = await client.configuration();
    expect(shown).toMatchObject({ editable: true, problems: [], state: { forStart: [], kept: [] } });
    expect(JSON.stringify(shown)).not.toMatch(new RegExp(`${KEY}|${TOKEN}`));
    expect(shown.values).toMatchObject({ agents: { list: [{ id: "main" }] } });
    const change = await editTo(client, (text) =>
      text.replace("{ id: main }", "{ id: main }, { id: coder }"),
    );
    const check = await client.checkConfiguration(change);
    expect(check).toMatchObject({ errors: [], changed: ["agents"], programs: [], forStart: [] });
    expect(check.keys).toEqual(["agents.list"]);
    expect(check.diff).toContain("+agents: { list: [{ id: main }, { id: coder }] } # the first");
    expect((await client.agents()).map(({ id }) => id)).toEqual(["main"]);
    const written = await client.writeConfiguration(change);
    expect(written).toMatchObject({ applied: ["agents"], kept: [], problems: [] });
    expect((await client.agents()).map(({ id }) => id)).toEqual(["main", "coder"]);
    expect(read()).toContain(`token: ${TOKEN}`);
    expect(read()).toContain(KEY);
    const edits = [{ path: ["agents", "list", 1, "name"], value: "编码" }];
    await client.writeConfiguration({ revision: written.revision, edits });
    expect((await client.agents())[1]).toMatchObject({ id: "coder", name: "编码" });
    expect(read()).toContain("# the first");
    const getWrites = async () => {
      const { entries } = await client.audit({ kind: "configuration" });
      return entries.filter(({ action }) => action === "written");
    };
    await expect.poll(async () => (await getWrites()).length).toBe(2);
    expect((await getWrites())[0]).toMatchObject({ actor: "token owner", details: { sections: "agents" } });
  });

  it("is not changed by a request for an older revision", async () => {
    const { client, world, read } = await openConfigured(demoConfig({ agents: { list: [{ id: "main" }] } }));
    const change = await editTo(client, (text) => text.replace("main", "other"));
    await world.command(["config", "set", "replies.typing", "false"]);
    const before = read();
    for (const work of [client.checkConfiguration(change), client.writeConfiguration(change)])
      await expect(work).rejects.toMatchObject({ code: "conflict", status: 409 });
    expect(read()).toBe(before);
    const both = await Promise.allSettled(
      ["a", "b"].map(async (name) => {
        const { revision } = await client.configuration();
        return client.writeConfiguration({
          revision,
          edits: [{ path: ["agents", "list", 0, "name"], value: name }],
        });
      }),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });

  it.each([
    ["syntax", (text: string) => `${text}\nmodels: [\n`],
    ["a section that is needed to start", (text: string) => text.replace(/port: \d+/, "port: never")],
    [
      "an unknown tool",
      (text: string) => `${text}\nagents: { list: [{ id: a, tools: { allow: [raed] } }] }\n`,
    ],
    ["a missing secret", (text: string) => `${text}\nhooks: { build: { secret: { file: no-such-file } } }\n`],
    [
      "a moved secret",
      (text: string) => `${text}\nhooks: { b: { secret: "<secret gateway.auth.token>" } }\n`,
    ],
  ])("is refused with wrong %s, and the file stays as it was", async (_, edit) => {
    const { client, world, read } = await openConfigured(demoConfig());
    const before = read();
    const change = await editTo(client, edit);
    const refused = await client.writeConfiguration(change).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "invalid", status: 422 });
    expect(refused).toHaveProperty("details.0.remedy");
    expect(refused).toHaveProperty("details.0.line", expect.any(Number));
    expect(JSON.stringify(refused)).not.toContain(TOKEN);
    expect(read()).toBe(before);
    expect(readdirSync(world.home.dir).filter((name) => name.includes("next"))).toEqual([]);
    expect((await client.status()).configuration).toEqual({ forStart: [], kept: [], errors: [] });
  });

  it("shows the programs that a change would run, and runs none in a check", async () => {
    const { client, world } = await openConfigured(demoConfig());
    const marker = join(world.dir, "ran");
    const print = `require("fs").writeFileSync(${JSON.stringify(marker)}, ""); console.log("fK3vQ9zLw7TnB2xRj5Ym8HcD")`;
    const command = [process.execPath, "-e", print];
    const edits = [{ path: ["hooks", "build", "secret"], value: { command } }];
    const { revision } = await client.configuration();
    const check = await client.checkConfiguration({ revision, edits });
    expect(check.errors).toEqual([]);
    expect(check.programs).toEqual([`hooks.build.secret.command: ${process.execPath} -e …`]);
    expect(existsSync(marker)).toBe(false);
    await client.writeConfiguration({ revision, edits });
    expect(existsSync(marker)).toBe(true);
    const getPrograms = async () => {
      const { entries } = await client.audit({ kind: "configuration" });
      return entries.find(({ action }) => action === "written")?.details?.["programs"];
    };
    await expect.poll(getPrograms).toContain("hooks.build.secret.command");
  });

  it("returns to an earlier version, which is shown without its secrets", async () => {
    const { client, read } = await openConfigured(exampleConfig());
    const before = read();
    const edits = [{ path: ["agents", "list", 0, "name"], value: "other" }];
    const { revision } = await client.writeConfiguration({
      revision: (await client.configuration()).revision,
      edits,
    });
    const getVersion = async () => (await client.configurationHistory())[0];
    await expect
      .poll(getVersion)
      .toMatchObject({ actor: "token owner", keys: ["agents.list[0].name"], replacedAt: expect.any(Number) });
    const version = await getVersion();
    expect(version?.replacedAt).toBeGreaterThan(Date.now() - 60_000);
    const shown = await client.configurationVersion(version?.id ?? "");
    expect(shown.diff).toContain("代码助手");
    expect(shown).toMatchObject({ keys: ["agents.list[0].name"], forStart: [], programs: [] });
    expect(shown.text).not.toContain(TOKEN);
    await expect(client.rollbackConfiguration({ id: "none", revision })).rejects.toMatchObject({
      code: "not_found",
    });
    await client.rollbackConfiguration({ id: version?.id ?? "", revision });
    expect(read()).toBe(before);
    expect((await client.agents())[0]?.name).toBe("代码助手");
  });

  it("names the keys that take effect at the next start, and lists who changed which keys", async () => {
    const { client, world } = await openConfigured(demoConfig());
    const { keysForStart } = await client.configuration();
    const schema = await client.configurationSchema();
    for (const key of keysForStart)
      expect(schema, key).toHaveProperty(`properties.${key.replaceAll(".", ".properties.")}`);
    await world.command(["config", "set", "gateway.inboxLimit", "500"]);
    const [byCommand] = await client.configurationHistory();
    expect(byCommand?.keys).toEqual(["gateway.inboxLimit"]);
    expect(byCommand).not.toHaveProperty("actor");
    const version = await client.configurationVersion(byCommand?.id ?? "");
    expect(version).toMatchObject({ keys: ["gateway.inboxLimit"], forStart: [] });
    const check = await client.checkConfiguration({
      revision: (await client.configuration()).revision,
      edits: [
        { path: ["gateway", "inboxLimit"], value: 600 },
        { path: ["replies", "typing"], value: false },
      ],
    });
    expect(check.keys).toEqual(["gateway.inboxLimit", "replies"]);
    expect(check.forStart).toEqual(["gateway.inboxLimit"]);
  });

  it("has a schema with the settings of all channels", async () => {
    const { client } = await openConfigured(demoConfig());
    const schema = await client.configurationSchema();
    expect(schema).toMatchObject({ properties: { channels: { properties: { telegram: {}, feishu: {} } } } });
  });
});
