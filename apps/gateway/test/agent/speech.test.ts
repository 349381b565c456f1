import { createClient } from "@signalbox/client";
import { groupMention, messageEvent, textMessage } from "@signalbox/testkit/feishu";
import {
  createOggOpus,
  type FakeSpeechServiceOptions,
  startFakeSpeechService,
} from "@signalbox/testkit/speech";
import { expect, it, onTestFinished } from "vitest";
import { OWNED, said } from "../support/feishu-talk.ts";
import {
  exampleConfig,
  LI,
  openWorld,
  type Started,
  TOKEN,
  taintIn,
  type World,
  ZHANG,
} from "../support/harness.ts";

const KEY = "key-of-the-speech-0123456789";
const OPENAI = { model: "voices/gpt-4o-mini-tts", voice: "alloy" };
const ELEVENLABS = { model: "voices/eleven_flash_v2_5", voice: "JBFqnCBsd6RMkjVDRZzb" };
const ANSWER = "Buy **milk**, see [the list](https://example.org/list).\n```sh\nrm -rf /\n```\nThat is all.";

interface Talk {
  readonly provider?: object;
  readonly media?: object;
  readonly mode?: string;
  readonly more?: object;
  readonly service?: Partial<FakeSpeechServiceOptions>;
}

/** Starts a gateway whose agent can speak. The sender is an owner unless `more` replaces the access rules. */
async function openSpeechWorld(talk: Talk = {}) {
  const { world, service } = await openStoppedWorld(talk);
  return { world, service, started: await world.start() };
}

async function openStoppedWorld({ provider, media, mode, more, service: options }: Talk) {
  const service = await startFakeSpeechService({ key: KEY, ...options });
  onTestFinished(() => service.stop());
  const world = await openWorld();
  const voices = { api: "openai-chat", apiKey: KEY, baseUrl: `${service.url}/v1`, ...provider };
  world.configure(
    exampleConfig({
      access: OWNED,
      models: {
        providers: {
          anthropic: { api: "anthropic-messages", apiKey: "${ANTHROPIC_KEY}", baseUrl: "${ANTHROPIC_URL}" },
          voices: { ...voices, baseUrl: voices.api === "elevenlabs" ? service.url : voices.baseUrl },
        },
      },
      media: { speech: OPENAI, ...media },
      agents: {
        defaults: { model: "anthropic/claude-sonnet-4-6", ...(mode === undefined ? {} : { speech: mode }) },
        list: [{ id: "coder", name: "Coder" }],
      },
      ...more,
    }),
  );
  world.script(() => ({ text: ANSWER }));
  return { world, service };
}

let count = 0;

async function write(started: Started, text: string, senderId = ZHANG): Promise<void> {
  await started.post(textMessage(text, { senderId, messageId: `om_written_${++count}` }));
  await started.settled();
}

async function speak(world: World, started: Started, senderId = ZHANG): Promise<void> {
  const messageId = `om_spoken_${++count}`;
  world.feishu.addResource(messageId, "file_1", createOggOpus(), { mimeType: "audio/opus" });
  await started.post(messageEvent("audio", { file_key: "file_1", duration: 2_000 }, { senderId, messageId }));
  await started.settled();
}

/** Returns the voice messages that people received. */
function voiceMessages(world: World) {
  return world.feishu.sent
    .filter(({ msgType }) => msgType === "audio")
    .map((one) => world.feishu.upload(one));
}

it.each([
  ["an OpenAI-compatible provider", {}, { speech: { ...OPENAI, instructions: "Whisper." } }],
  ["ElevenLabs", { api: "elevenlabs" }, { speech: ELEVENLABS }],
])("sends the text, and then a voice message made by %s", async (_, provider, media) => {
  const { world, started, service } = await openSpeechWorld({ provider, media, mode: "always" });
  expect(started.problems).toEqual([]);
  await write(started, "What do I need?");
  // Code and addresses are not read aloud.
  expect(service.spoken.map(({ text }) => text)).toEqual(["Buy milk, see the list.\n\nThat is all."]);
  expect(said(world)[0]).toContain("rm -rf /");
  expect(voiceMessages(world)).toMatchObject([{ type: "opus", name: "voice.ogg", duration: 2_000 }]);
  expect(world.feishu.sent.map(({ msgType }) => msgType).at(-1)).toBe("audio");
});

it("answers a voice message with one and a text with a text, if that is the agent's setting", async () => {
  const { world, started, service } = await openSpeechWorld({
    mode: "voice",
    media: { transcription: "voices/whisper-1" },
  });
  await write(started, "Hello");
  expect(service.spoken).toHaveLength(0);
  await speak(world, started);
  expect(service.spoken).toHaveLength(1);
  expect(voiceMessages(world)).toHaveLength(1);
  // The transcript of a recording stays untrusted.
  expect(await taintIn(world)).toEqual(["file"]);
});

it("speaks nothing by default, and to each person as they choose", async () => {
  const { world, started, service } = await openSpeechWorld();
  await write(started, "Hello");
  await write(started, "/speech");
  await write(started, "/speech loudly");
  await write(started, "/speech always");
  expect(service.spoken).toHaveLength(0);
  expect(said(world).slice(1)).toEqual([
    "Coder speaks no answers to you.",
    "Unknown choice loudly. Choose one of: never, voice, always, default.",
    "Coder speaks all answers to you (your choice).",
  ]);
  await write(started, "Hello", LI);
  expect(service.spoken).toHaveLength(0);
  await write(started, "Hello");
  expect(service.spoken).toHaveLength(1);
  await write(started, "/speech default");
  await write(started, "Hello");
  expect(service.spoken).toHaveLength(1);
});

it("lets nobody choose if the configuration does not allow it", async () => {
  const { world, started, service } = await openSpeechWorld({
    media: { speech: { ...OPENAI, ownChoice: false } },
  });
  await write(started, "/speech always");
  await write(started, "Hello");
  expect(said(world)[0]).toBe("Only the operator can change which answers are spoken.");
  expect(service.spoken).toHaveLength(0);
});

it("speaks nothing to guests", async () => {
  const { world, started, service } = await openSpeechWorld({ mode: "always" });
  await started.post(groupMention("Hello", world.feishu.bot, { senderId: LI, messageId: "om_guest" }));
  await started.settled();
  expect(said(world)).toHaveLength(1);
  expect(service.requests).toHaveLength(0);
});

it.each([
  ["refuses the voice", { media: { speech: { ...OPENAI, voice: "nobody" } } }],
  ["rejects the key", { provider: { apiKey: "another-key-0123456789-0123456789" } }],
  ["returns a page", { service: { answer: (response) => void response.end("<html>Sign in</html>") } }],
  ["returns nothing", { service: { answer: (response) => void response.end() } }],
  [
    "cuts the response",
    { service: { answer: (response) => void response.write("OggS", () => response.destroy()) } },
  ],
  [
    "does not finish in time",
    {
      media: { speech: { ...OPENAI, timeoutMs: 200 } },
      service: { answer: (response) => void response.write("OggS") },
    },
  ],
] satisfies [string, Talk][])(
  "sends the text once and says why in the trace if the service %s",
  async (_, talk) => {
    const { world, started } = await openSpeechWorld({ mode: "always", ...talk });
    await write(started, "What do I need?");
    expect(said(world)).toEqual([expect.stringContaining("That is all.")]);
    expect(voiceMessages(world)).toEqual([]);
    const traced = await world.command(["trace", "--json"]);
    expect(traced.out).toContain("the answer was not spoken");
    expect(traced.out).not.toContain(KEY);
  },
);

it("charges the sender, and requests nothing after the budget is exhausted", async () => {
  const { world, started, service } = await openSpeechWorld({
    mode: "always",
    media: { speech: { ...OPENAI, price: 1 } },
    more: { budgets: [{ of: "sender", usd: 0.037, action: "stop" }] },
  });
  await write(started, "Hello");
  expect(service.spoken).toHaveLength(1);
  const listed = await world.command(["usage", "--budgets", "--json"]);
  // 37 characters at a dollar for a thousand, in addition to the cost of the model.
  const [account] = JSON.parse(listed.out);
  expect(account.spent).toBeGreaterThanOrEqual(37_000);
  await write(started, "Hello again");
  expect(service.requests).toHaveLength(1);
});

it("charges for a response that cannot be used, and nothing for a refused request", async () => {
  const media = { speech: { ...OPENAI, price: 1 } };
  const budgets = [{ of: "agent", usd: 100, action: "stop" }];
  const spentAfter = async (talk: Talk): Promise<number> => {
    const { world, started } = await openSpeechWorld({ mode: "always", media, more: { budgets }, ...talk });
    await write(started, "Hello");
    const listed = await world.command(["usage", "--budgets", "--json"]);
    return JSON.parse(listed.out)[0].spent;
  };
  const refused = await spentAfter({ provider: { apiKey: "another-key-0123456789-0123456789" } });
  const unusable = await spentAfter({ service: { answer: (response) => void response.end("not audio") } });
  expect(unusable - refused).toBe(37_000);
});

it("speaks an answer of the page once its reader asks, who pays for it", async () => {
  const { started, service } = await openSpeechWorld({
    media: { speech: { ...OPENAI, price: 1 } },
    more: { budgets: [{ of: "sender", usd: 0.037, action: "stop" }] },
  });
  const client = createClient({ baseUrl: started.url, token: TOKEN });
  expect((await client.me()).speech).toBe(true);
  await client.send({ agent: "coder", conversation: "c1", text: "What do I need?" });
  await started.settled();
  const { messages } = await client.history("c1");
  const answer = messages.find(({ role }) => role === "assistant")?.id ?? "";
  expect(service.requests).toHaveLength(0);
  const spoken = await client.speak("c1", answer);
  expect(spoken.mimeType).toBe("audio/ogg");
  expect(Buffer.from(spoken.data, "base64")).toEqual(createOggOpus());
  await expect(client.speak("c1", answer)).rejects.toMatchObject({ code: "conflict" });
  expect(service.requests).toHaveLength(1);
  const question = messages.find(({ role }) => role === "user")?.id ?? "";
  await expect(client.speak("c1", question)).rejects.toMatchObject({ code: "not_found" });
  await expect(client.speak("c2", answer)).rejects.toMatchObject({ code: "not_found" });
});

it("removes secrets from the text that is sent to the service", async () => {
  const { world, started, service } = await openSpeechWorld({ mode: "always" });
  world.script(() => ({ text: `The key is ${KEY}.` }));
  await write(started, "Tell me the key");
  expect(service.spoken).toHaveLength(1);
  expect(service.requests.map(({ text }) => text).join()).not.toContain(KEY);
});

it.each([
  ["before the commit, and synthesizes again", "finish.before", 2],
  ["after the text is sent", "receipt.after", 1],
])("sends the text and the voice message once after a crash %s", async (_, point, syntheses) => {
  const { world, service } = await openStoppedWorld({ mode: "always" });
  const first = await world.startTuned({ SIGNALBOX_FAILPOINT: `${point}:1:kill` });
  await first.post(textMessage("Hello", { senderId: ZHANG, messageId: "om_crash" }));
  expect(await first.exited).toMatchObject({ signal: "SIGKILL" });
  const second = await world.start();
  await second.settled();
  expect(world.feishu.sent.map(({ msgType }) => msgType)).toEqual([
    expect.not.stringMatching("audio"),
    "audio",
  ]);
  expect(service.spoken).toHaveLength(syntheses);
});

it.each([
  ["an unknown provider", { speech: { ...OPENAI, model: "nobody/tts-1" } }, {}, "no nobody that can speak"],
  ["a server that only transcribes", { speech: OPENAI }, { api: "whisper-cpp" }, "only transcribes"],
  [
    "a format that ElevenLabs does not offer",
    { speech: { ...ELEVENLABS, format: "flac" } },
    { api: "elevenlabs" },
    "does not offer flac",
  ],
  [
    "instructions for ElevenLabs",
    { speech: { ...ELEVENLABS, instructions: "Whisper." } },
    { api: "elevenlabs" },
    "accepts no instructions",
  ],
])("reports %s, and answers with text", async (_, media, provider, message) => {
  const { world, started } = await openSpeechWorld({ media, provider, mode: "always" });
  expect(started.problems.join("\n")).toContain(message);
  await write(started, "Hello");
  expect(said(world)).toHaveLength(1);
});
