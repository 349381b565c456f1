import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { signInSecret } from "@signalbox/client";
import { SESSION_KEY_HEADER, SignedIn, SignInLink } from "@signalbox/protocol";
import { readHomeHolder } from "@signalbox/store";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { exampleConfig, inStore, openWorld, TOKEN, type World } from "../support/harness.ts";
import { fakeSystemd } from "../support/systemd.ts";

const PROGRAM = fileURLToPath(new URL("../../dist/signalbox.js", import.meta.url));
const LINK = /http:\/\/127\.0\.0\.1:\d+\/#sign-in=[\w-]{43}/;

/** A command at a terminal. */
function atTerminal(world: World, args: readonly string[] = ["start"], env: NodeJS.ProcessEnv = {}) {
  const line = ["stty cols 200;", process.execPath, PROGRAM, ...args, "--home", world.home.dir].join(" ");
  const terminal = spawn("script", ["-qec", line, "/dev/null"], { env: { ...world.env, ...env } });
  onTestFinished(() => void terminal.kill("SIGKILL"));
  let shown = "";
  terminal.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
  });
  const exited = new Promise((resolve) => terminal.once("exit", resolve));
  const close = (): void => void terminal.kill("SIGKILL");
  return { shown: () => shown, type: (keys: string) => terminal.stdin.write(keys), close, exited };
}

async function signIn(link: string): Promise<number> {
  const { origin, hash } = new URL(link);
  const headers = { "content-type": "application/json", origin };
  const body = JSON.stringify({ token: signInSecret(hash) });
  return (await fetch(`${origin}/api/login`, { method: "POST", headers, body })).status;
}

describe("at a terminal", () => {
  beforeEach(({ skip }) => {
    if (spawnSync("script", ["--version"]).status !== 0)
      skip("script(1), which makes a terminal, is missing");
  });

  it("shows a link that signs in once; `signalbox link` makes another", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    const start = atTerminal(world);
    await expect.poll(start.shown).toMatch(LINK);
    const link = LINK.exec(start.shown())?.[0] ?? "";
    expect(await signIn(link)).toBe(200);
    expect(await signIn(link)).toBe(401);

    const another = await world.command(["link"]);
    expect(another).toMatchObject({ code: 0 });
    expect(await signIn(LINK.exec(another.out)?.[0] ?? "")).toBe(200);
    expect(readFileSync(world.home.logFile, "utf8")).not.toMatch(/sign-in=/);
    start.type("\u0003");
    await start.exited;
  });

  it("stops in order once its terminal is closed", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    const { shown, close } = atTerminal(world);
    await expect.poll(shown).toMatch(LINK);
    close();
    await expect.poll(() => readHomeHolder(world.home.dir)).toBeUndefined();
    // Whoever ends without a stop leaves it.
    expect(await inStore(world, ({ leases }) => leases.list())).toEqual([]);
  });

  it("offers to set up what is not, and goes on with the demo model after a no", async () => {
    const world = await openWorld();
    const start = atTerminal(world);
    await expect.poll(start.shown).toContain("Nothing is set up yet.");
    expect(start.shown()).not.toContain("listens on");
    start.type("n");
    // The usual port may be taken on this machine: then it is started in vain, but started.
    await expect.poll(start.shown).toMatch(/the offline demo model answers|in use by another/);
    expect(existsSync(world.home.configFile)).toBe(false);
    start.type("\u0003");
    await start.exited;
  });

  it("sets up first after a yes", async () => {
    const world = await openWorld();
    const start = atTerminal(world);
    await expect.poll(start.shown).toContain("Nothing is set up yet.");
    start.type("y");
    await expect.poll(start.shown).toContain("Which model provider do you want to use?");
    start.type("\u0003");
    await expect.poll(start.shown).toContain("Stopped. Nothing was changed; run it again to continue.");
    await start.exited;
    expect(start.shown()).not.toContain("listens on");
  });

  it("offers to continue a setup that was interrupted", async () => {
    const world = await openWorld();
    const up = "\u001b[A";
    const start = atTerminal(world, ["start"], { LANG: "C" });
    await expect.poll(start.shown).toContain("Nothing is set up yet.");
    start.type("y");
    await expect.poll(start.shown).toContain("Which model provider do you want to use?");
    start.type(`${up}\r`);
    await expect.poll(start.shown).toContain("Language of the first");
    start.type("\r");
    await expect.poll(start.shown).toContain("Where will people talk to it");
    start.type("\u0003");
    await start.exited;

    const next = atTerminal(world, ["start"], { LANG: "C" });
    await expect.poll(next.shown).toContain("The setup was interrupted. Continue it now?");
    next.type("y");
    await expect.poll(next.shown).toContain("Where will people talk to it");
    expect(next.shown()).not.toContain("Language of the first");
    next.type("\u0003");
    await next.exited;
    expect(next.shown()).not.toContain("listens on");
  });

  it("`signalbox init` asks for no agent, and for the language only once", async () => {
    const world = await openWorld();
    const args = ["init", "--provider=none", "--channel=none", "--no-service"];
    const question = "Language of the first";
    const first = atTerminal(world, args, { LANG: "C" });
    await expect.poll(first.shown).toContain(question);
    first.type("\r");
    await first.exited;
    expect(parse(readFileSync(world.home.configFile, "utf8"))).toEqual({
      agents: { defaults: { language: "en" } },
    });
    const second = atTerminal(world, args, { LANG: "C" });
    await second.exited;
    expect(second.shown()).not.toContain(question);
    expect(second.shown()).toContain("Nothing was changed in ");
  });

  it("`signalbox init` asks for the model of a server of one's own once", async () => {
    const world = await openWorld();
    const answers = "--agent=main --workspace=/tmp --language=en --channel=none --no-service --no-check";
    const address = "http://127.0.0.1:9/v1";
    const provider = ["--provider=local", `--base-url=${address}`];
    const init = atTerminal(world, ["init", ...provider, ...answers.split(" ")]);
    await expect.poll(init.shown).toContain("Name of the model");
    init.type("qwen3\r");
    await init.exited;
    expect(init.shown()).toContain("Set up in ");
    expect(parse(readFileSync(world.home.configFile, "utf8"))).toMatchObject({
      models: { providers: { local: { baseUrl: address, models: [{ id: "qwen3" }] } } },
      agents: { defaults: { model: "local/qwen3" } },
    });
  });

  it("`signalbox init` offers the service, unless systemd does not answer or an option says no", async () => {
    const answers = "--provider=none --agent=main --workspace=/tmp --language=en --channel=none".split(" ");
    const question = "Start the gateway now and whenever this machine starts?";
    const world = await openWorld();
    const systemd = fakeSystemd(world.dir);
    const refused = atTerminal(world, ["init", ...answers, "--no-service"], systemd.env);
    await refused.exited;
    expect(refused.shown()).not.toContain(question);

    const init = atTerminal(world, ["init", ...answers], systemd.env);
    await expect.poll(init.shown).toContain(question);
    expect(existsSync(systemd.unit)).toBe(false);
    init.type("y");
    await init.exited;
    expect(init.shown()).toContain("The gateway is running as a service");
    expect(existsSync(systemd.unit)).toBe(true);

    const elsewhere = await openWorld();
    const { env } = fakeSystemd(elsewhere.dir, "show-environment");
    const silent = atTerminal(elsewhere, ["init", ...answers], env);
    await silent.exited;
    expect(silent.shown()).not.toContain(question);
  });
});

it("without a terminal nothing of a link is written, and nothing is asked", async () => {
  const world = await openWorld();
  world.configure(exampleConfig());
  const started = await world.startChild();
  const link = await world.command(["link", "--json"]);
  const { link: address, expiresAt } = JSON.parse(link.out);
  expect(address).toMatch(LINK);
  expect(expiresAt).toBeGreaterThan(Date.now());
  await started.end("SIGTERM");
  expect(started.stderr() + started.stdout()).not.toContain("sign-in");
});

it("owners' tokens alone make links: no session, and no member's token", async () => {
  const world = await openWorld();
  world.configure(exampleConfig());
  const started = await world.start();
  const ask = async (headers: Record<string, string>) => {
    const init = { method: "POST", body: "{}", headers: { ...headers, "content-type": "application/json" } };
    return fetch(`${started.url}/api/sign-in-links`, init);
  };
  const made = await ask({ authorization: `Bearer ${TOKEN}` });
  expect([made.status, made.headers.get("cache-control")]).toEqual([200, "no-store"]);
  const { secret } = SignInLink.parse(await made.json());
  expect((await ask({})).status).toBe(401);
  expect((await ask({ authorization: `Bearer ${secret}` })).status).toBe(401);

  const member = await world.command(["tokens", "add", "alice", "--json"]);
  expect((await ask({ authorization: `Bearer ${JSON.parse(member.out).token}` })).status).toBe(403);

  const login = await fetch(`${started.url}/api/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token: secret }),
  });
  const session = {
    cookie: login.headers.get("set-cookie")?.split(";")[0] ?? "",
    [SESSION_KEY_HEADER]: SignedIn.parse(await login.json()).sessionKey,
  };
  expect((await fetch(`${started.url}/api/status`, { headers: session })).status).toBe(200);
  expect((await ask(session)).status).toBe(403);
});
