import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { FakeServer } from "@signalbox/testkit";
import { startGoogle } from "@signalbox/testkit/google";
import { startMistral } from "@signalbox/testkit/mistral";
import { startOpenAI } from "@signalbox/testkit/openai";
import { expect, it, onTestFinished } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { exampleConfig, openWorld, TOKEN } from "../support/harness.ts";

const PEERS = Object.keys(manifest.peerDependencies);

/** Has none of the packages that people install beside the gateway. */
const withoutPeers = `
import { registerHooks } from "node:module";
const peers = ${JSON.stringify(PEERS)};
registerHooks({ resolve(name, context, next) {
  if (!peers.some((peer) => name === peer || name.startsWith(peer + "/"))) return next(name, context);
  throw Object.assign(new Error("Cannot find package '" + name + "'"), { code: "ERR_MODULE_NOT_FOUND" });
} });
`;

const script = (): { readonly text: string } => ({ text: "Hello." });
const kept = async <Started extends FakeServer>(starting: Promise<Started>): Promise<Started> => {
  const fakeServer = await starting;
  onTestFinished(() => fakeServer.stop());
  return fakeServer;
};

it("the program answers by each vendor's models with nothing installed beside it", async () => {
  const world = await openWorld();
  const hook = join(world.dir, "without-peers.mjs");
  writeFileSync(hook, withoutPeers);
  const env = { NODE_OPTIONS: `--import ${pathToFileURL(hook).href}` };
  world.script(script);
  const openai = await kept(startOpenAI({ script }));
  const [google, mistral] = await Promise.all([
    kept(startGoogle({ script })),
    kept(startMistral({ script })),
  ]);
  const apiKey = "a-key-of-nobody-0123456789";
  const providers = {
    anthropic: { api: "anthropic-messages", apiKey: "${ANTHROPIC_KEY}", baseUrl: "${ANTHROPIC_URL}" },
    openai: { api: "openai-responses", apiKey, baseUrl: openai.baseUrl },
    chat: { api: "openai-chat", apiKey, baseUrl: openai.baseUrl, models: [{ id: "gpt-4.1" }] },
    google: { api: "google-generative", apiKey, baseUrl: google.url },
    mistral: { api: "mistral-chat", apiKey, baseUrl: mistral.url },
  };
  const models = {
    claude: "anthropic/claude-sonnet-4-6",
    gpt: "openai/gpt-5.2",
    chat: "chat/gpt-4.1",
    gemini: "google/gemini-2.5-flash",
    mistral: "mistral/mistral-medium-3.5",
  };
  const list = Object.entries(models).map(([id, model]) => ({ id, model }));
  world.configure(exampleConfig({ models: { providers }, agents: { list }, channels: {} }));

  const check = world.run(["config", "check"], env);
  await check.exited;
  expect(check.stdout() + check.stderr()).not.toContain("not installed");
  const { url } = await world.startChild([], env);
  for (const agent of Object.keys(models)) {
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify({ model: `signalbox/${agent}`, messages: [{ role: "user", content: "hello" }] }),
    });
    expect(await answer.json(), agent).toMatchObject({ choices: [{ message: { content: "Hello." } }] });
  }
});
