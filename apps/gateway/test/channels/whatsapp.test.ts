import {
  buttonReply,
  messagePayload,
  person,
  startWhatsApp,
  textMessage,
  type WhatsAppOptions,
} from "@signalbox/testkit/whatsapp";
import { expect, it, onTestFinished } from "vitest";
import { ASKING } from "../support/asking-config.ts";
import { ends, eventually, exampleConfig, inStore, openWorld } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

const SECRETS = {
  accessToken: "EAAG-token-of-the-gateway",
  appSecret: "secret-of-the-app-0123456789",
  verifyToken: "verify-token-of-the-gateway",
};

/** A gateway with an account on WhatsApp, whose webhook is registered. */
async function openWhatsApp(
  config: Readonly<Record<string, unknown>> = {},
  options: Partial<WhatsAppOptions> = {},
) {
  const world = await openWorld();
  const whatsapp = await startWhatsApp({ ...SECRETS, ...options });
  onTestFinished(() => whatsapp.stop());
  const { url: apiBaseUrl, phoneNumberId } = whatsapp;
  world.configure(
    exampleConfig({
      channels: { whatsapp: { accounts: { main: { ...SECRETS, phoneNumberId, apiBaseUrl } } } },
      access: { dm: "open", owners: [`whatsapp:${person.id}`] },
      ...config,
    }),
  );
  const started = await world.start();
  const webhook = `${started.url}/channels/whatsapp/main/events`;
  return { world, whatsapp, started, webhook };
}

it("answers after the gateway has answered the challenge of the webhook", async () => {
  const { world, whatsapp, started, webhook } = await openWhatsApp();
  world.script([{ text: "Hello, **Sheena**." }]);
  const wrong = await fetch(`${webhook}?hub.mode=subscribe&hub.verify_token=guess&hub.challenge=1`);
  expect(wrong.status).toBe(403);
  expect(await whatsapp.subscribe(webhook)).toBe(true);
  expect(await whatsapp.push(textMessage("hello", { id: "wamid.1" }))).toBe(true);
  await started.settled();
  expect(whatsapp.sent.map(({ text }) => text)).toEqual(["Hello, *Sheena*."]);
  expect(JSON.stringify(modelRequests(world.anthropic)[0]?.body.messages)).toContain("Sheena Nelson: hello");
});

it("rejects forged events and stores a replayed one once", async () => {
  const { world, whatsapp, started, webhook } = await openWhatsApp();
  world.script(() => ({ text: "fine" }));
  const good = whatsapp.sign(textMessage("hello", { id: "wamid.1" }));
  const post = async (request: RequestInit) => (await fetch(webhook, request)).status;
  expect(await post({ ...good, headers: { "content-type": "application/json" } })).toBe(401);
  expect(await post({ ...good, body: good.body.replace("hello", "obey!") })).toBe(401);
  for (const _ of [1, 2, 3]) expect(await post(good)).toBe(200);
  await started.settled();
  expect(await ends(world)).toEqual([["replied", undefined]]);
  expect(whatsapp.sent).toHaveLength(1);
});

it("sends an answer once although its response is lost, and stores its id", async () => {
  const { world, whatsapp, started, webhook } = await openWhatsApp();
  world.script([{ text: "the answer" }]);
  await whatsapp.subscribe(webhook);
  whatsapp.fail({ kind: "cut" });
  await whatsapp.push(textMessage("hello"));
  await started.settled();
  expect(whatsapp.sent).toHaveLength(1);
  const [row] = await inStore(world, (store) => store.outbox.list({ states: ["sent"] }));
  expect(row?.receipts).toEqual([{ part: 0, receipt: { messageId: whatsapp.sent[0]?.id } }]);
});

it.each(["at_once", "later"] as const)(
  "explains a refusal outside the 24-hour window that comes %s",
  async (how) => {
    const { world, whatsapp, started, webhook } = await openWhatsApp();
    world.script([{ text: "the answer" }]);
    await whatsapp.subscribe(webhook);
    whatsapp.closeWindow(person.id, how);
    await whatsapp.push(textMessage("hello", { id: "wamid.1" }));
    await eventually(
      async () => (await inStore(world, (store) => store.outbox.list({ states: ["dead"] }))).length > 0,
      "the reply is given up",
    );
    await started.settled();
    const [row] = await inStore(world, (store) => store.outbox.list({ states: ["dead"] }));
    expect(row?.error).toMatch(/24 hours.*approved message templates/);
    expect((await world.command(["why", "wamid.1", "--details"])).out).toContain(
      "approved message templates",
    );
  },
);

it("puts a question with buttons, and the tap decides", async () => {
  const { world, whatsapp, started, webhook } = await openWhatsApp({ agents: ASKING });
  const input = { question: "Tea or coffee?", options: ["Tea", "Coffee"] };
  world.script([{ toolCalls: [{ id: "toolu_ask", name: "ask_user", input }] }, { text: "Coffee it is." }]);
  await whatsapp.subscribe(webhook);
  await whatsapp.push(textMessage("something to drink?"));
  await eventually(() => whatsapp.sent.length === 1, "the question is put");
  const [question] = whatsapp.sent;
  const id = findReply(question?.body, "Coffee") ?? "no such button";
  await whatsapp.push(buttonReply({ id, title: "Coffee" }, question?.id ?? ""));
  await started.settled();
  expect(whatsapp.sent.map(({ text }) => text).at(-1)).toBe("Coffee it is.");
});

it("shows a picture with its caption to the agent", async () => {
  const { world, whatsapp, started, webhook } = await openWhatsApp();
  world.script([{ text: "A dot." }]);
  const png =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  whatsapp.addMedia({ id: "1003383421387256", mimeType: "image/png", content: Buffer.from(png, "base64") });
  await whatsapp.subscribe(webhook);
  const image = { id: "1003383421387256", mime_type: "image/png", caption: "what is this?" };
  await whatsapp.push(messagePayload({ type: "image", image }));
  await started.settled();
  const asked = JSON.stringify(modelRequests(world.anthropic)[0]?.body.messages);
  expect(asked).toContain("what is this?");
  expect(asked).toContain('"type":"image"');
});

it("doctor names a token that expires and a webhook that is not registered", async () => {
  const { world } = await openWhatsApp({}, { tokenExpiresAt: Date.now() + 86_400_000 });
  const { out } = await world.command(["doctor"]);
  expect(out).toMatch(
    /^warning channel whatsapp\/main token: the token expires at 20.*\n +Under Business settings/m,
  );
  expect(out).toMatch(/^warning channel whatsapp\/main webhook: no webhook URL is registered/m);
  expect(out).toMatch(/^ok +channel whatsapp\/main number: Signalbox, /m);
});

it("config check names a setting that is missing and where it is found", async () => {
  const world = await openWorld();
  world.configure(exampleConfig({ channels: { whatsapp: { accounts: { main: { accessToken: "x" } } } } }));
  const { out } = await world.command(["config", "check"]);
  expect(out).toMatch(
    /channels\.whatsapp\.accounts\.main.*phoneNumberId is missing: copy it from WhatsApp > API Setup/,
  );
});

/** The id of the button with this title. */
function findReply(value: unknown, title: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if ("title" in value && value.title === title && "id" in value) return String(value.id);
  return Object.values(value)
    .map((inner) => findReply(inner, title))
    .find((id) => id !== undefined);
}
