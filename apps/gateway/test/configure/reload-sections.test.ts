import { existsSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ask, OWNED } from "../support/feishu-talk.ts";
import {
  APP,
  exampleConfig,
  feishuAccount,
  openWorld,
  type Started,
  TOKEN,
  type World,
} from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { plainChannel, plainMessage, said } from "../support/plain-channel.ts";
import { serve } from "../support/site.ts";

const SECRET = "q7Zt1xW9vK3mB5nR8pL2";

const AGENTS = (more: readonly string[]) => ({
  defaults: { model: "anthropic/claude-sonnet-4-6" },
  list: [{ id: "coder", tools: { allow: ["read", ...more] } }],
});

/** Reads the file again after it was given these sections. */
function reloadWith(world: World, started: Started, sections: object) {
  world.configure(exampleConfig({ access: OWNED, ...sections }));
  return started.reload();
}

async function startWith(sections: object = {}): Promise<{ world: World; started: Started }> {
  const world = await openWorld();
  world.configure(exampleConfig({ access: OWNED, ...sections }));
  world.script((_body, index) => ({ text: `answer ${index}` }));
  return { world, started: await world.start() };
}

const lastTold = (world: World): string =>
  JSON.stringify(modelRequests(world.anthropic).at(-1)?.body.messages);
const offered = (world: World): readonly string[] =>
  (modelRequests(world.anthropic).at(-1)?.body.tools ?? []).flatMap(({ name }) =>
    name === "read" ? [] : [name],
  );

describe("a section that was changed while the gateway runs", () => {
  it("hooks: a gate stands at the next call, and a program's hook is called by its new secret", async () => {
    const agents = AGENTS(["write"]);
    const { world, started } = await startWith({ agents });
    const call = (secret: string) =>
      fetch(`${started.url}/hooks/build`, {
        method: "POST",
        headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
        body: JSON.stringify({ result: "green" }),
      });
    expect((await call(SECRET)).status).toBe(401);
    await using site = await serve((_request, response) => {
      response.end(JSON.stringify({ action: "deny", reason: "Not on a Sunday." }));
    });
    const hooks = {
      guard: { at: "before_tool_call", url: `${site.url}/guard` },
      build: { secret: SECRET },
    };
    expect((await reloadWith(world, started, { agents, hooks })).applied).toEqual(["hooks"]);
    expect((await call(SECRET)).status).toBe(202);
    await started.settled();
    world.script((_body, index) =>
      index === 1
        ? { toolCalls: [{ name: "write", input: { file_path: "a.txt", content: "x" } }] }
        : { text: "Done." },
    );
    await ask(started, "write it");
    expect(lastTold(world)).toContain("Not on a Sunday.");
    expect(existsSync(join(world.home.workspace("coder"), "a.txt"))).toBe(false);
  });

  it("hooks: of a bad edit both kinds stay as they were", async () => {
    await using site = await serve((_request, response) => response.end());
    const hooks = { seen: { at: "run_end", url: `${site.url}/seen` } };
    const { world, started } = await startWith({ hooks });
    const broken = { ...hooks, guard: { at: "before_tool_call" } };
    expect(await reloadWith(world, started, { hooks: broken })).toMatchObject({
      applied: [],
      kept: ["hooks"],
    });
  });

  it("links: pages are read from the next message on; tools: the hosts that may be fetched from are the new ones", async () => {
    await using site = await serve((_request, response) => {
      response.setHeader("content-type", "text/plain");
      response.end("Herons nest in April.");
    });
    const { world, started } = await startWith({ links: { mode: "off" } });
    await ask(started, `What is ${site.url}/herons ?`);
    expect(lastTold(world)).not.toContain("Herons nest");
    const { host } = new URL(site.url);
    const changed = await reloadWith(world, started, {
      links: { mode: "fetch" },
      tools: { web: { allow: [host] } },
    });
    expect(changed.applied).toEqual(["tools", "links"]);
    await ask(started, `And ${site.url}/herons ?`);
    expect(lastTold(world)).toContain("Herons nest in April.");
  });

  it("mcp: an agent has the tools of a server that was added, and not of one that was removed", async () => {
    const agents = AGENTS(["mcp__greeter__*"]);
    const { world, started } = await startWith({ agents });
    await ask(started, "one");
    expect(offered(world)).toEqual([]);
    writeFileSync(join(world.dir, "greeter.mjs"), GREETER);
    const servers = { greeter: { command: process.execPath, args: [join(world.dir, "greeter.mjs")] } };
    expect((await reloadWith(world, started, { agents, mcp: { servers } })).applied).toEqual(["mcp"]);
    await ask(started, "two");
    expect(offered(world)).toEqual(["mcp__greeter__greet"]);
    // An agent that still names its tools is a mistake, and both stay as they were.
    expect((await reloadWith(world, started, { agents })).kept).toEqual(["agents", "mcp"]);
    expect((await reloadWith(world, started, { agents: AGENTS([]) })).applied).toEqual(["agents", "mcp"]);
    await ask(started, "three");
    expect(offered(world)).toEqual([]);
  });

  it("memory: switched off, nothing is recalled and there is no tool for it; switched on again, there is", async () => {
    const agents = AGENTS(["memory_search"]);
    const { world, started } = await startWith({ agents });
    await ask(started, "one");
    expect(offered(world)).toEqual(["memory_search"]);
    await reloadWith(world, started, { agents, memory: { enabled: false } });
    await ask(started, "two");
    expect(offered(world)).toEqual([]);
    await reloadWith(world, started, { agents, memory: { halfLifeDays: 5 } });
    await ask(started, "three");
    expect(offered(world)).toEqual(["memory_search"]);
  });

  it("retention: the next look goes by it", async () => {
    const { world, started } = await startWith();
    await ask(started, "one");
    await ask(started, "two");
    expect((await started.gateway.service.prune()).traces).toBe(0);
    await reloadWith(world, started, { retention: { traces: 1 } });
    // What traces hold is written some time after it happened.
    await expect.poll(async () => (await started.gateway.service.prune()).traces).toBeGreaterThan(0);
  });

  it("replies: an answer is sent block by block from the next one on", async () => {
    const world = await openWorld();
    const channels = { plain: { accounts: { main: {} } } };
    world.configure(exampleConfig({ channels }));
    const paragraphs = [
      "First it looks around there.",
      "Then it writes it all down.",
      "And then it goes home.",
    ];
    // A paragraph takes longer to write than a busy machine takes to store and send the block before it.
    world.script((_, index) => ({
      text: paragraphs.join("\n\n"),
      chunks: 30,
      deltaMs: index === 0 ? 0 : 150,
    }));
    const plain = plainChannel();
    const started = await world.start({ channels: [plain.definition] });
    await plain.emit(plainMessage("m1", "one"));
    await started.settled();
    expect(said(plain)).toEqual([paragraphs.join("\n\n")]);
    const blocks = { when: "without-edits", minChars: 20, maxChars: 40 };
    expect((await reloadWith(world, started, { channels, replies: { blocks } })).applied).toContain(
      "replies",
    );
    await plain.emit(plainMessage("m2", "two"));
    await started.settled();
    expect(said(plain).slice(1)).toEqual(paragraphs);
  });
});

describe("the gateway's own section", () => {
  const gateway = (more: object) => ({ port: 0, auth: { token: TOKEN }, logLevel: "warn", ...more });

  it("applies what can be applied, and says which key needs a restart", async () => {
    const { world, started } = await startWith();
    const throughProxy = (): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        get(`${started.url}/v1/models`, { headers: { host: "gate.example" } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        }).on("error", reject);
      });
    expect(await throughProxy()).toBe(403);
    const next = gateway({ port: 4799, inboxLimit: 5, logLevel: "info", allowedHosts: ["gate.example"] });
    const reloaded = await reloadWith(world, started, { gateway: next });
    expect(reloaded).toMatchObject({
      applied: ["gateway"],
      forStart: ["gateway.port", "gateway.inboxLimit"],
    });
    // It is let to the door now, where a token is asked for.
    expect(await throughProxy()).toBe(401);
    const { configuration } = await started.gateway.service.status();
    expect(configuration).toMatchObject({ forStart: ["gateway.port", "gateway.inboxLimit"], kept: [] });
    expect(started.log()).toContain('"keys":["gateway.port","gateway.inboxLimit"]');
    await reloadWith(world, started, {});
    expect((await started.gateway.service.status()).configuration).toMatchObject({ forStart: [], kept: [] });
  });

  it("stays where something in it is wrong, and the other sections apply", async () => {
    const { world, started } = await startWith();
    const reloaded = await reloadWith(world, started, {
      gateway: gateway({ port: "many" }),
      channels: { feishu: { accounts: { main: feishuAccount(), second: feishuAccount() } } },
    });
    expect(reloaded).toMatchObject({ applied: ["channels"], kept: ["gateway"], accounts: ["feishu/second"] });
    expect((await started.gateway.service.status()).configuration.kept).toEqual(["gateway"]);
    expect(started.log()).toContain("gateway.port");
    world.configure("agents: [");
    await expect(started.reload()).rejects.toThrow("not valid YAML");
    expect((await started.gateway.service.status()).configuration.kept).toEqual([world.home.configFile]);
  });

  it("is told by status, config check and doctor of a gateway that runs", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    const started = await world.start();
    world.configure(exampleConfig({ gateway: gateway({ inboxLimit: 5 }) }));
    await started.reload();
    const said = async (...args: readonly string[]): Promise<string> => {
      const { out } = await world.command(args);
      return out;
    };
    expect(await said("status")).toContain("gateway.inboxLimit: takes effect after a restart");
    expect(await said("config", "check")).toContain("gateway.inboxLimit");
    expect(await said("doctor")).toContain("gateway.inboxLimit changed since the gateway started");
    world.configure(exampleConfig({ agents: { list: [{ id: 7 }] }, access: { dm: "open" } }));
    await started.reload();
    expect(await said("status")).toContain("agents, access: the previous values stay in effect");
    expect(await said("config", "check")).toContain(
      "access: the running gateway keeps the previous settings",
    );
  });

  it("is told by them, too, where only the gateway's own process finds an error", async () => {
    const world = await openWorld();
    const agents = { list: [{ id: "coder" }] };
    world.configure(exampleConfig({ agents }));
    const started = await world.start();
    const named = exampleConfig({
      agents,
      channels: { feishu: { accounts: { main: feishuAccount({ appSecret: "${ONLY_IN_THE_SHELL}" }) } } },
    });
    world.configure(named);
    await started.reload();
    const shell = { ONLY_IN_THE_SHELL: APP.appSecret };
    const lacks =
      "channels.feishu.accounts.main.appSecret: in the process of the running gateway, the environment variable ONLY_IN_THE_SHELL is not set";
    const check = await world.command(["config", "check"], shell);
    expect(check).toMatchObject({ code: 78, out: expect.stringContaining(lacks) });
    expect(check.out).toContain("restart it with them");
    for (const command of ["status", "doctor"])
      expect((await world.command([command], shell)).out).toMatch(
        /appSecret: the environment variable ONLY_IN_THE_SHELL is not set/,
      );
    world.configure(exampleConfig({ agents }));
    await started.reload();
    expect(await world.command(["config", "check"], shell)).toMatchObject({ code: 0 });
  });

  it("is said to go on, by status and doctor, where the file cannot be read at all", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    await world.start();
    world.configure("agents: [");
    const status = await world.command(["status"]);
    expect(status.code).toBe(78);
    expect(status.err).toMatch(/:1: not valid YAML.*with the configuration it last read/s);
    const { out } = await world.command(["doctor"]);
    expect(out).toContain("with the configuration it last read");
  });
});

const GREETER = `import { createInterface } from "node:readline";
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "greet", description: "Greets.", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: "Hello!" }] }),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method](params) }));
});`;
