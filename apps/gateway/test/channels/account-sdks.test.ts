import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Status } from "@signalbox/protocol";
import { startDiscord } from "@signalbox/testkit/discord";
import { startSlack } from "@signalbox/testkit/slack";
import { startTelegram } from "@signalbox/testkit/telegram";
import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import { exampleConfig, feishuAccount, openWorld, TOKEN } from "../support/harness.ts";

const dist = fileURLToPath(new URL("../../dist/", import.meta.url));
/** Path from the SDK of Feishu's long connection, which is bundled in a chunk of its own. */
const ENDPOINT = "/callback/ws/endpoint";
const [longConnection = "nothing"] = readdirSync(dist).filter(
  (name) => name.startsWith("signalbox") && readFileSync(join(dist, name), "utf8").includes(ENDPOINT),
);

/** Patterns that match the URLs of each SDK's modules. */
const sdks: Readonly<Record<string, RegExp>> = {
  discord: /\/node_modules\/(?:discord\.js|@discordjs\/(?:ws|rest))\//,
  feishu: new RegExp(`/node_modules/@larksuiteoapi/|/dist/${longConnection}$`),
  slack: /\/node_modules\/@slack\//,
  telegram: /\/node_modules\/grammy\//,
};

/** Records the URL of every module that the process loads. */
const recorder = `
import { writeFileSync } from "node:fs";
import { registerHooks } from "node:module";
const loaded = new Set();
registerHooks({ load(url, context, next) { loaded.add(url); return next(url, context); } });
process.on("exit", () => writeFileSync(process.env.LOADED_MODULES, JSON.stringify([...loaded])));
`;

const discordToken = `${Buffer.from("1000").toString("base64")}.made-up.secret`;

const accounts: Readonly<Record<string, () => Promise<object>>> = {
  async discord() {
    const fakeServer = await startDiscord({
      token: discordToken,
      bot: { id: "1000", username: "signalbox" },
    });
    onTestFinished(() => fakeServer.stop());
    return { token: discordToken, apiBaseUrl: fakeServer.url };
  },
  feishu: async () => feishuAccount({ transport: "socket" }),
  async slack() {
    const tokens = { botToken: "xoxb-token-of-the-bot", appToken: "xapp-token-of-the-app" };
    const fakeServer = await startSlack(tokens);
    onTestFinished(() => fakeServer.stop());
    return { ...tokens, baseUrl: fakeServer.apiUrl };
  },
  async telegram() {
    const botToken = "42:secret-of-the-bot-0123456789";
    const fakeServer = await startTelegram({ token: botToken });
    onTestFinished(() => fakeServer.stop());
    return { botToken, apiBaseUrl: fakeServer.url };
  },
};

/** The SDKs that a gateway loads with this one account, once it is connected; it knows all other channels as well. */
async function loadedWith(channel: string, account: object): Promise<readonly string[]> {
  const world = await openWorld();
  world.configure(exampleConfig({ channels: { [channel]: { accounts: { main: account } } } }));
  const [hook, loaded] = [join(world.home.dir, "recorder.mjs"), join(world.home.dir, "loaded.json")];
  writeFileSync(hook, recorder);
  const child = await world.startChild([], {
    NODE_OPTIONS: `--import ${pathToFileURL(hook).href}`,
    LOADED_MODULES: loaded,
  });
  const headers = { authorization: `Bearer ${TOKEN}` };
  await eventually(async () => {
    const status = Status.parse(await (await fetch(`${child.url}/api/status`, { headers })).json());
    return status.channels.length > 0 && status.channels.every(({ state }) => state === "ready");
  }, "the account is ready");
  await child.end("SIGTERM");
  const urls: readonly string[] = JSON.parse(readFileSync(loaded, "utf8"));
  return Object.keys(sdks).filter((name) => urls.some((url) => sdks[name]?.test(url)));
}

it.each(Object.entries(accounts))(
  "an account on %s loads its own SDK and no other",
  async (channel, account) => {
    expect(await loadedWith(channel, await account())).toEqual([channel]);
  },
);

it("an account with Feishu webhooks loads no SDK", async () => {
  expect(await loadedWith("feishu", feishuAccount())).toEqual([]);
});
