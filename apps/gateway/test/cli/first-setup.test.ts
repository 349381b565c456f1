import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startTelegram, textMessage } from "@signalbox/testkit/telegram";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { APP, eventually, KEY, openWorld, type World } from "../support/harness.ts";

const token = "42:secret-of-the-bot-0123456789";

function configured(world: World) {
  return parse(readFileSync(world.home.configFile, "utf8"));
}

function provider(world: World, key = KEY): string[] {
  return [
    ...["--provider", "anthropic", "--api-key", key, "--base-url", world.anthropic.url],
    ...["--model", "anthropic/claude-sonnet-4-6"],
  ];
}

describe("signalbox init", () => {
  it("goes from nothing to an agent that answers on a channel, by options alone", async () => {
    const world = await openWorld();
    const telegram = await startTelegram({ token });
    onTestFinished(() => telegram.stop());
    world.script(() => ({ text: "here I am" }));
    const channel = [
      "--channel",
      "telegram",
      "--set",
      `botToken=${token}`,
      "--set",
      `apiBaseUrl=${telegram.url}`,
    ];
    const { code, out, err } = await world.command([
      "init",
      ...provider(world),
      ...channel,
      "--owner",
      "5001",
    ]);
    expect(out).toContain(`Start the gateway with \`signalbox start --home ${world.home.dir}\``);
    expect(err).toContain("anthropic/claude-sonnet-4-6 answers.");
    expect(err).toContain("on the platform, the bot is called Signalbox.");
    expect(code).toBe(0);

    // Secrets stand in files that nobody else reads, and nowhere else.
    const text = readFileSync(world.home.configFile, "utf8");
    expect(text).not.toContain(KEY);
    expect(text).not.toContain(token);
    const secrets = join(world.home.dir, "secrets");
    for (const name of readdirSync(secrets)) expect(statSync(join(secrets, name)).mode & 0o077).toBe(0);
    expect(configured(world)).toMatchObject({
      agents: { defaults: { model: "anthropic/claude-sonnet-4-6" } },
      channels: { telegram: { accounts: { main: { botToken: "${file:secrets/telegram-main-botToken}" } } } },
      access: { owners: ["telegram:5001"] },
    });

    expect((await world.command(["config", "set", "gateway.port", "0"])).code).toBe(0);
    expect(await world.command(["config", "check"])).toMatchObject({ code: 0 });
    const started = await world.start();
    await telegram.push(textMessage("are you there?"));
    await eventually(() => telegram.sent.length > 0, "it answers");
    expect(telegram.sent[0]?.text).toBe("here I am");
    const again = await world.command(["init", ...provider(world)]);
    expect(again.out).toContain("The running gateway picks this up by itself");
    await started.stop();
  });

  it("gives a provider and an account another secret, and leaves the rest of them as it is", async () => {
    const world = await openWorld();
    world.script(() => ({ text: "OK" }));
    const telegram = await startTelegram({ token });
    onTestFinished(() => telegram.stop());
    const anthropic = {
      api: "anthropic-messages",
      apiKey: "an-older-key-0123456789",
      baseUrl: world.anthropic.url,
      headers: { "x-team": "${TEAM:-ours}" },
      models: [{ id: "claude-haiku-4-5", prices: { input: 1, output: 2 } }],
    };
    const account = { botToken: "42:older-secret-of-the-bot-012345", apiBaseUrl: telegram.url };
    world.configure({
      models: { providers: { anthropic } },
      agents: { defaults: { model: "anthropic/claude-haiku-4-5" } },
      channels: { telegram: { accounts: { main: account } } },
    });
    const { code, err } = await world.command([
      ...["init", "--yes", "--provider", "anthropic", "--api-key", KEY],
      ...["--channel", "telegram", "--set", `botToken=${token}`],
    ]);
    expect(err).toContain("anthropic/claude-haiku-4-5 answers.");
    expect(err).toContain("on the platform, the bot is called Signalbox.");
    expect(code).toBe(0);
    expect(configured(world)).toMatchObject({
      models: { providers: { anthropic: { ...anthropic, apiKey: "${file:secrets/anthropic-key}" } } },
      agents: { defaults: { model: "anthropic/claude-haiku-4-5" } },
      channels: {
        telegram: { accounts: { main: { ...account, botToken: "${file:secrets/telegram-main-botToken}" } } },
      },
    });
  });

  it.each([
    [{ models: { providers: { anthropic: { baseURL: "http://127.0.0.1:1" } } } }, "anthropic.baseURL"],
    [{ channels: { telegram: { accounts: [] } } }, "channels.telegram.accounts"],
    [{ agents: { list: [{ id: "a", name: 1 }, { id: "b" }] } }, "agents.list[0].name"],
    [{ access: { owners: [5001, "telegram:1"] } }, "access.owners[0]"],
  ])("refuses to write over what is wrong: %j", async (configuration, field) => {
    const world = await openWorld();
    world.configure(configuration);
    const before = configured(world);
    const { code, err } = await world.command([
      ...["init", "--yes", "--no-check", "--provider", "anthropic", "--api-key", KEY, "--agent", "c"],
      ...["--channel", "telegram", "--set", `botToken=${token}`, "--owner", "5001"],
    ]);
    expect([code, err]).toEqual([78, expect.stringContaining(`${field}: `)]);
    expect(configured(world)).toMatchObject(before);
  });

  it("adds an agent, the first one and others", async () => {
    const world = await openWorld();
    expect((await world.command(["init", "--yes", "--agent", "first"])).code).toBe(0);
    expect((await world.command(["init", "--yes", "--agent", "second", "--workspace", "~/two"])).code).toBe(
      0,
    );
    expect(configured(world)).toEqual({
      agents: { list: [{ id: "first" }, { id: "second", workspaceDir: "~/two" }] },
    });
    expect((await world.command(["init", "--yes", "--workspace", "~/three"])).code).toBe(64);
  });

  it("adds an owner, and leaves the others as they are written", async () => {
    const world = await openWorld();
    world.configure("access:\n  owners:\n    - telegram:${WHO:-1} # Ann\n");
    const telegram = ["--channel", "telegram", "--set", `botToken=${token}`, "--no-check"];
    expect((await world.command(["init", "--yes", ...telegram, "--owner", "5001"])).code).toBe(0);
    const written = readFileSync(world.home.configFile, "utf8");
    expect(written).toContain("owners:\n    - telegram:${WHO:-1} # Ann\n    - telegram:5001\n");
  });

  it("says in the vendor's words that a key is wrong, and leaves what can be started", async () => {
    const world = await openWorld();
    const { code, err } = await world.command(["init", ...provider(world, "wrong-key-0123456789abcdef")]);
    expect(code).toBe(1);
    expect(err).toMatch(/does not answer: .*(?:x-api-key|authentication)/i);
    expect(err).not.toContain("wrong-key");
    expect((await world.command(["config", "check"])).code).toBe(0);
  });

  it("refuses a wrong Feishu secret in the vendor's words, with and without a long connection", async () => {
    const world = await openWorld();
    for (const transport of ["webhook", "socket"]) {
      const settings = {
        ...APP,
        appSecret: "not-the-secret-0123456789",
        baseUrl: world.feishu.url,
        transport,
      };
      const set = Object.entries(settings).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
      const { code, err } = await world.command(["init", "--yes", "--channel", "feishu", ...set]);
      expect(code, transport).toBe(1);
      expect(err, transport).not.toContain("The settings work");
      expect(err, transport).toMatch(transport === "webhook" ? /app secret invalid/ : /auth failed/);
    }
  });

  it("lists what was saved before an answer that is refused", async () => {
    const world = await openWorld();
    const channel = ["--channel", "telegram", "--set", "botToken=nonsense"];
    const model = ["--model", "anthropic/claude-haiku-4-5"];
    const { code, err } = await world.command(["init", "--yes", ...model, ...channel]);
    expect(code).toBe(64);
    expect(err).toMatch(/botToken must .*\nSaved before that: the model anthropic\/claude-haiku-4-5\./);
  });

  it.each(["anthropic", "openai", "google", "mistral"])(
    "keeps a key of %s as what the configuration takes",
    async (name) => {
      const world = await openWorld();
      const args = ["--provider", name, "--api-key", "key-of-the-vendor-0123456789", "--no-check"];
      expect((await world.command(["init", ...args])).code).toBe(0);
      expect(configured(world).models.providers[name].apiKey).toBe(`\${file:secrets/${name}-key}`);
      expect(await world.command(["config", "check"])).toMatchObject({ code: 0 });
    },
  );

  it("keeps the key of a server of one's own", async () => {
    const world = await openWorld();
    const args = ["--provider", "local", "--base-url", "http://127.0.0.1:1/v1", "--model", "local/qwen"];
    expect((await world.command(["init", ...args, "--api-key", KEY, "--no-check"])).code).toBe(0);
    expect(configured(world).models.providers.local.apiKey).toBe("${file:secrets/local-key}");
    expect(await world.command(["config", "check"])).toMatchObject({ code: 0 });
  });

  it("uses a key of the environment from there", async () => {
    const world = await openWorld();
    const init = await world.command(["init", "--provider", "openai", "--no-check"], {
      OPENAI_API_KEY: "key-0123456789-abcdef",
    });
    expect(init.code).toBe(0);
    expect(configured(world)).toEqual({ agents: { defaults: { model: "openai/gpt-5.2" } } });
  });

  it("refuses what would say nothing, and takes a model alone", async () => {
    const world = await openWorld();
    for (const args of [
      ["--api-key", KEY],
      ["--owner", "5001"],
      ["--set", "botToken=x"],
    ])
      expect((await world.command(["init", "--yes", ...args])).code).toBe(64);
    expect((await world.command(["init", "--yes", "--model", "nonsense"])).code).toBe(78);
    expect((await world.command(["init", "--yes", "--model", "anthropic/claude-haiku-4-5"])).code).toBe(0);
    expect(configured(world)).toEqual({ agents: { defaults: { model: "anthropic/claude-haiku-4-5" } } });
  });

  it("sets nothing up where nothing is asked for, and says so", async () => {
    const world = await openWorld();
    const { code, out } = await world.command(["init", "--provider", "none"]);
    expect(code).toBe(0);
    expect(out).toContain("Nothing was set up");
    expect(existsSync(world.home.configFile)).toBe(false);
    const checked = await world.command(["config", "check"]);
    expect(checked.out).toBe(`${world.home.configFile} does not exist; the defaults apply.\n`);
  });

  it("lays out the workspace in the language that is chosen", async () => {
    const world = await openWorld();
    expect((await world.command(["init", "--yes", "--language", "zh"])).code).toBe(0);
    expect(configured(world)).toEqual({ agents: { defaults: { language: "zh" } } });
    // Nothing of what was chosen before is asked again.
    expect((await world.command(["init", "--yes"])).code).toBe(0);
    expect(configured(world)).toEqual({ agents: { defaults: { language: "zh" } } });
  });

  it("keeps the language of the terminal for a service that runs without one", async () => {
    const world = await openWorld();
    expect((await world.command(["init", "--yes"], { LC_ALL: "zh_CN.UTF-8" })).code).toBe(0);
    expect(configured(world)).toEqual({ agents: { defaults: { language: "zh" } } });
  });

  it("takes yes and no for settings that are such, and talks of webhooks only where there are some", async () => {
    const world = await openWorld();
    const slack = [
      "--set",
      "botToken=xoxb-1-2-abcdefghij",
      "--set",
      "appToken=xapp-1-2-abcdefghij",
      "--set",
      "streams=false",
    ];
    const bySocket = await world.command(["init", "--channel", "slack", ...slack, "--no-check"]);
    expect(bySocket).toMatchObject({ code: 0 });
    expect(bySocket.err).not.toContain("Webhooks");
    expect(configured(world).channels.slack.accounts.main.streams).toBe(false);
    const feishu = [
      "--set",
      "appId=cli_1",
      "--set",
      "appSecret=0123456789",
      "--set",
      "verificationToken=0123456789abcdef",
    ];
    const byWebhook = await world.command(["init", "--channel", "feishu", ...feishu, "--no-check"]);
    expect(byWebhook.err).toContain("/channels/feishu/main/events");
  });

  it("names what an option cannot be, and changes nothing by it", async () => {
    const world = await openWorld();
    for (const args of [
      ["--provider", "nobody"],
      ["--channel", "telegram", "--set", "botToken"],
      ["--channel", "telegram", "--set", "bottoken=1"],
      ["--channel", "telegram", "--set", "botToken=nonsense"],
      ["--agent", "Not An Id"],
      ["--language", "klingon"],
    ]) {
      const { code, err } = await world.command(["init", ...args]);
      expect(code, args.join(" ")).toBe(64);
      expect(err.trim(), args.join(" ")).not.toBe("");
    }
    expect(existsSync(world.home.configFile)).toBe(false);
  });
});

describe("signalbox config", () => {
  const text = "# ours\ngateway:\n  port: 4747 # usual\nagents:\n  defaults:\n    model: demo/demo\n";

  it("sets and unsets values, keeps comments, and goes back", async () => {
    const world = await openWorld();
    writeFileSync(world.home.configFile, text);
    expect((await world.command(["config", "set", "gateway.port", "4801"])).code).toBe(0);
    expect((await world.command(["config", "unset", "agents.defaults.model"])).code).toBe(0);
    const changed = readFileSync(world.home.configFile, "utf8");
    expect(changed).toBe("# ours\ngateway:\n  port: 4801 # usual\n");
    const shown = await world.command(["config", "history"]);
    const older = shown.out.split("\n")[1]?.split("  ")[1] ?? "";
    expect(readFileSync(older, "utf8")).toBe(text);
    expect(shown.out).toContain(`\`diff <file> ${world.home.configFile}\``);
    const history = JSON.parse((await world.command(["config", "history", "--json"])).out);
    expect(history).toHaveLength(2);
    const back = await world.command(["config", "rollback", history[1].id]);
    expect(back.out).toBe(`Restored the configuration of ${history[1].id}.\n`);
    expect(readFileSync(world.home.configFile, "utf8")).toBe(text);
    expect((await world.command(["config", "rollback", "never"])).code).toBe(1);
  });

  it("tells what the new value names and what is not there", async () => {
    const world = await openWorld();
    writeFileSync(world.home.configFile, text);
    const set = await world.command(["config", "set", "agents.defaults.tools", "{ allow: [wirte] }"]);
    expect(set.code).toBe(78);
    expect(set.err).toMatch(/^error: .*agents\.defaults\.tools\.allow: .*wirte/);
    expect((await world.command(["config", "set", "gateway.port", "4801"])).err).toBe("");
    const account = await world.command(["config", "set", "channels.slackk.accounts.main.botToken", "xoxb"]);
    expect(account.err).toMatch(/^error: .*channels\.slackk: there is no such channel/);
    expect((await world.command(["config", "set", "channels.slack", "{}"])).err).toBe("");
  });

  it("takes a value beside one that nothing can start with", async () => {
    const world = await openWorld();
    writeFileSync(world.home.configFile, "gateway:\n  port: many\n  host: [1]\n");
    const other = await world.command(["config", "set", "agents.defaults.model", "demo/demo"]);
    expect(other).toMatchObject({ code: 0, err: "" });
    const half = await world.command(["config", "set", "gateway.port", "4801"]);
    expect(half).toMatchObject({ code: 0, err: "" });
    const section = await world.command(["config", "set", "gateway", "{ port: 4801, host: [1] }"]);
    expect(section.err).toMatch(/gateway\.host/);
  });

  it("changes nothing where something would be wrong then", async () => {
    const world = await openWorld();
    writeFileSync(world.home.configFile, text);
    for (const [path = "", value = ""] of [
      ["gateway.port", "many"],
      ["agents.defaults.tools", "[exec"],
      ["gateway.port.number", "1"],
      ["agents.defaults.thinking", "sometimes"],
    ]) {
      const { code, err } = await world.command(["config", "set", path, value]);
      expect(code, path).not.toBe(0);
      expect(err, path).toContain("signalbox: ");
      expect(readFileSync(world.home.configFile, "utf8")).toBe(text);
    }
    expect(existsSync(join(world.home.dir, "config-history"))).toBe(false);
  });
});
