import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startFakeImageService } from "@signalbox/testkit/images";
import { expect, it, onTestFinished } from "vitest";
import { ask, OWNED, said } from "../support/feishu-talk.ts";
import { exampleConfig, openWorld, ZHANG } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

const KEY = "key-of-the-images-0123456789";
const CALL = { name: "generate_image", input: { prompt: "a red lamp", file_path: "images/lamp.png" } };

/** Starts a gateway whose agent generates images with a provider. */
async function openImageWorld(provider: object, model: string, more: object = {}, price?: number) {
  const service = await startFakeImageService({ key: KEY });
  onTestFinished(() => service.stop());
  const world = await openWorld();
  const anthropic = { api: "anthropic-messages", apiKey: "${ANTHROPIC_KEY}", baseUrl: "${ANTHROPIC_URL}" };
  const pictures = {
    apiKey: KEY,
    ...provider,
    baseUrl: `${service.url}${"api" in provider && provider.api === "google-generative" ? "" : "/v1"}`,
  };
  world.configure(
    exampleConfig({
      access: OWNED,
      models: { providers: { anthropic, pictures } },
      tools: { imageGeneration: { model: `pictures/${model}`, ...(price === undefined ? {} : { price }) } },
      agents: {
        defaults: { model: "anthropic/claude-sonnet-4-6" },
        list: [{ id: "coder", tools: { allow: ["read", "generate_image"] } }],
      },
      ...more,
    }),
  );
  let isFirst = true;
  world.script(() => {
    const turn = isFirst ? { toolCalls: [CALL] } : { text: "Here.\nMEDIA:images/lamp.png" };
    isFirst = !isFirst;
    return turn;
  });
  const started = await world.start();
  expect(started.problems).toEqual([]);
  return { world, started, service, file: join(world.home.workspace("coder"), "images", "lamp.png") };
}

it.each([
  ["an OpenAI-compatible provider", { api: "openai-chat" }, "gpt-image-1"],
  ["an older model", { api: "openai-chat" }, "dall-e-3"],
  ["Gemini", { api: "google-generative" }, "gemini-image"],
])("generates an image with %s, shows it to the model and attaches it", async (_, provider, model) => {
  const { world, started, service, file } = await openImageWorld(provider, model);
  await ask(started, "Draw a lamp.");
  expect(service.requests).toHaveLength(1);
  expect(readFileSync(file).subarray(1, 4).toString()).toBe("PNG");
  expect(JSON.stringify(modelRequests(world.anthropic).at(-1)?.body.messages)).toContain(
    "Stored images/lamp.png",
  );
  expect(world.feishu.sent.some(({ content }) => content.includes("image_key"))).toBe(true);
  expect(said(world).join("\n")).not.toContain(KEY);
});

it("charges the configured price to the sender, and requests nothing after the budget is exhausted", async () => {
  const budgets = [{ of: "sender", usd: 0.04, action: "stop" }];
  const { world, started, service } = await openImageWorld(
    { api: "openai-chat" },
    "gpt-image-1",
    { budgets },
    0.04,
  );
  await ask(started, "Draw a lamp.");
  const listed = await world.command(["usage", "--budgets", "--json"]);
  const [account] = JSON.parse(listed.out);
  expect(account).toMatchObject({ account: `sender feishu:${ZHANG}` });
  expect(account.spent).toBeGreaterThanOrEqual(40_000);
  await ask(started, "Another one.");
  expect(service.requests).toHaveLength(1);
});

it("reports a provider that cannot generate images, and does not offer the tool", async () => {
  const world = await openWorld();
  world.configure(exampleConfig({ access: OWNED, tools: { imageGeneration: { model: "nobody/x" } } }));
  const started = await world.start();
  expect(started.problems.join("\n")).toContain("models.providers has no nobody that can generate images");
  expect(existsSync(join(world.home.workspace("coder"), "images"))).toBe(false);
});
