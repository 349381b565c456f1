import { buffer } from "node:stream/consumers";
import { fileMessage, textMessage } from "@signalbox/testkit/feishu";
import { expect, it } from "vitest";
import { exampleConfig, LI, openWorld, taintIn, ZHANG } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { serve } from "../support/site.ts";

const OGG = Buffer.concat([Buffer.from("OggS"), Buffer.alloc(24), Buffer.from("OpusHead"), Buffer.alloc(64)]);
const KEY = "key-of-the-speech-0123456789";

it("a voice message is transcribed for the model, and stored with its message as untrusted text", async () => {
  const forms: string[] = [];
  await using speech = await serve(async (request, response) => {
    forms.push((await buffer(request)).toString("latin1"));
    response.setHeader("content-type", "application/json").end(JSON.stringify({ text: "Please buy milk." }));
  });
  const world = await openWorld();
  world.configure(
    exampleConfig({
      models: {
        providers: {
          anthropic: { api: "anthropic-messages", apiKey: "${ANTHROPIC_KEY}", baseUrl: "${ANTHROPIC_URL}" },
          speech: { api: "openai-chat", apiKey: KEY, baseUrl: `${speech.url}/v1` },
        },
      },
      media: { transcription: "speech/whisper-1" },
    }),
  );
  world.script(() => ({ text: "好" }));
  const started = await world.start();
  const direct = { senderId: ZHANG, chatId: "oc_direct" };
  world.feishu.addResource("om_1", "file_1", OGG, { mimeType: "audio/opus" });
  await started.post(fileMessage("file_1", "note.opus", { ...direct, messageId: "om_1" }));
  await started.settled();
  expect(speech.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([
    ["/v1/audio/transcriptions", `Bearer ${KEY}`],
  ]);
  expect(forms[0]).toMatch(/name="model"\r\n\r\nwhisper-1[\s\S]*filename="recording\.ogg"[\s\S]*OggS/);
  const told = () => JSON.stringify(modelRequests(world.anthropic).at(-1)?.body.messages);
  expect(told()).toContain("Please buy milk.");
  expect(told()).toContain("a transcript of it by speech/whisper-1");
  expect(await taintIn(world)).toEqual(["file"]);
  await started.post(textMessage("再看看", { ...direct, messageId: "om_2" }));
  await started.settled();
  expect(told()).toContain("Please buy milk.");
  expect(speech.requests).toHaveLength(1);
});

it("a transcription counts for the sender, and a recording is only named after the budget is exhausted", async () => {
  await using speech = await serve(async (request, response) => {
    await buffer(request);
    const usage = { type: "tokens", input_tokens: 900, output_tokens: 100 };
    response.setHeader("content-type", "application/json").end(JSON.stringify({ text: "Milk.", usage }));
  });
  const world = await openWorld();
  const prices = { input: 6, output: 10 };
  world.configure(
    exampleConfig({
      models: {
        providers: {
          anthropic: { api: "anthropic-messages", apiKey: "${ANTHROPIC_KEY}", baseUrl: "${ANTHROPIC_URL}" },
          speech: {
            api: "openai-chat",
            apiKey: KEY,
            baseUrl: `${speech.url}/v1`,
            models: [{ id: "whisper-1", prices }],
          },
        },
      },
      media: { transcription: "speech/whisper-1" },
      // 900 tokens in and 100 out are 6,400 millionths of a dollar.
      budgets: [{ of: "sender", usd: 0.006, action: "stop" }],
    }),
  );
  world.script(() => ({ text: "好" }));
  const started = await world.start();
  const send = async (senderId: string, messageId: string) => {
    world.feishu.addResource(messageId, "file_1", OGG, { mimeType: "audio/opus" });
    await started.post(fileMessage("file_1", "note.opus", { senderId, chatId: `oc_${senderId}`, messageId }));
    await started.settled();
  };
  await send(ZHANG, "om_1");
  await send(ZHANG, "om_2");
  await send(LI, "om_3");
  expect(speech.requests).toHaveLength(2);
  const listed = await world.command(["usage", "--budgets", "--json"]);
  expect(JSON.parse(listed.out)).toMatchObject([
    { account: `sender feishu:${LI}`, spent: expect.closeTo(6_400, -4), reserved: 0 },
    { account: `sender feishu:${ZHANG}`, spent: 6_400, reserved: 0, left: 0 },
  ]);
});

it("a recording costs its minutes if they have a price, and never more than its size allows", async () => {
  const spentFor = async (seconds: number): Promise<number> => {
    await using speech = await serve(async (request, response) => {
      await buffer(request);
      const usage = { type: "duration", seconds };
      response.setHeader("content-type", "application/json").end(JSON.stringify({ text: "Milk.", usage }));
    });
    const world = await openWorld();
    world.configure(
      exampleConfig({
        models: {
          providers: {
            anthropic: { api: "anthropic-messages", apiKey: "${ANTHROPIC_KEY}", baseUrl: "${ANTHROPIC_URL}" },
            speech: { api: "openai-chat", apiKey: KEY, baseUrl: `${speech.url}/v1` },
          },
        },
        media: { transcription: "speech/whisper-1", transcriptionPrice: 60 },
        budgets: [{ of: "channel", usd: 1_000, action: "stop" }],
        agents: { defaults: { model: "anthropic/claude-sonnet-4-6" }, list: [{ id: "coder" }] },
      }),
    );
    world.script(() => ({ text: "好" }));
    const started = await world.start();
    world.feishu.addResource("om_1", "file_1", OGG, { mimeType: "audio/opus" });
    await started.post(fileMessage("file_1", "note.opus", { senderId: ZHANG, messageId: "om_1" }));
    await started.settled();
    const listed = await world.command(["usage", "--budgets", "--json"]);
    return JSON.parse(listed.out)[0].spent;
  };
  // A dollar a second, and a recording of at most one second.
  const [half, endless] = [await spentFor(0.5), await spentFor(1e9)];
  expect(endless - half).toBe(500_000);
});
