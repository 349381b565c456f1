import { describe, expect, it, onTestFinished } from "vitest";
import { messagePayload, person, startWhatsApp, textMessage } from "../src/whatsapp/index.ts";

const credentials = {
  accessToken: "EAAG-token",
  appSecret: "secret-of-the-app",
  verifyToken: "verify-token",
};

const text = { type: "text", text: { body: "hi" } };
const image = { type: "image", image: { id: "1" } };

function buttons(...replies: readonly { readonly id: string; readonly title: string }[]) {
  const action = { buttons: replies.map((reply) => ({ type: "reply", reply })) };
  return { type: "interactive", interactive: { type: "button", body: { text: "Which?" }, action } };
}

function list(...rows: readonly object[]) {
  const action = { button: "Open", sections: [{ rows }] };
  return { type: "interactive", interactive: { type: "list", body: { text: "Which?" }, action } };
}

function question(length: number) {
  const { interactive } = buttons({ id: "a", title: "A" });
  return { type: "interactive", interactive: { ...interactive, body: { text: "x".repeat(length) } } };
}

const noRecipient = { recipient_type: undefined, to: undefined };
const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `${n}`, title: `T${n}` }));

async function open(options: Partial<Parameters<typeof startWhatsApp>[0]> = {}) {
  const server = await startWhatsApp({ ...credentials, ...options });
  onTestFinished(() => server.stop());
  const base = { messaging_product: "whatsapp", recipient_type: "individual", to: person.id };
  const post = async (body: object, accessToken = credentials.accessToken) => {
    const response = await fetch(`${server.url}/v23.0/${server.phoneNumberId}/messages`, {
      method: "POST",
      headers: { authorization: `Bearer ${accessToken}` },
      body: JSON.stringify({ ...base, ...body }),
    });
    const answer = (await response.json()) as { readonly error?: { readonly code: number } };
    return answer.error?.code ?? response.status;
  };
  return { server, post };
}

describe("the fake Cloud API accepts", () => {
  it.each([
    ["a text of 4,096 characters", { type: "text", text: { body: "x".repeat(4_096) } }],
    ["three buttons", buttons(...numbered(3))],
    ["an id of 256 characters and a title of 20", buttons({ id: "x".repeat(256), title: "t".repeat(20) })],
    ["a question of 1,024 characters", question(1_024)],
    ["a list of ten rows", list(...numbered(10))],
  ])("%s", async (_, body) => {
    const { post } = await open();
    expect(await post(body)).toBe(200);
  });
});

describe("the fake Cloud API refuses", () => {
  it.each([
    ["a text of 4,097 characters", 100, { type: "text", text: { body: "x".repeat(4_097) } }],
    ["a text without a body", 131008, { type: "text", text: {} }],
    ["four buttons", 131009, buttons(...numbered(4))],
    ["a title of 21 characters", 100, buttons({ id: "a", title: "t".repeat(21) })],
    ["equal titles", 131009, buttons({ id: "a", title: "Yes" }, { id: "b", title: "Yes" })],
    ["equal ids", 131009, buttons({ id: "a", title: "Yes" }, { id: "a", title: "No" })],
    ["an id of 257 characters", 100, buttons({ id: "x".repeat(257), title: "A" })],
    ["an id with a leading space", 131009, buttons({ id: " a", title: "A" })],
    ["a question of 1,025 characters", 100, question(1_025)],
    ["eleven rows", 131009, list(...numbered(11))],
    ["a row title of 25 characters", 100, list({ id: "a", title: "t".repeat(25) })],
    ["unknown media", 131053, image],
    ["an unknown field", 100, { ...text, biz_opaque_data: "k" }],
    ["an unknown field within the text", 100, { type: "text", text: { body: "hi", markup: "none" } }],
    ["a message without a recipient", 100, { ...text, to: undefined }],
    ["a recipient that is no number", 100, { ...text, to: "anna" }],
    ["an unknown type", 131051, { type: "poll", poll: {} }],
    [
      "a reaction to an unknown message",
      131009,
      { type: "reaction", reaction: { message_id: "x", emoji: "👍" } },
    ],
    ["a read mark for an unknown message", 131009, { status: "read", message_id: "x", ...noRecipient }],
    ["a message to itself", 131021, { ...text, to: "15550783881" }],
  ])("%s with %i", async (_, code, body) => {
    const { server, post } = await open();
    expect(await post(body)).toBe(code);
    expect(server.sent).toEqual([]);
  });

  it("a foreign token with 190, and a person outside a test number's list with 131030", async () => {
    const { post } = await open({ allowed: ["15550000001"] });
    expect(await post(text, "EAAG-another-token")).toBe(190);
    expect(await post(text)).toBe(131030);
    expect(await post({ ...text, to: "15550000001" })).toBe(200);
  });

  it("a message outside the window with 131047 at once, or by a status after a 200", async () => {
    const { server, post } = await open();
    server.closeWindow(person.id);
    expect(await post(text)).toBe(131047);
    server.closeWindow(person.id, "later");
    expect(await post(text)).toBe(200);
  });

  it("images as another type than JPEG or PNG, and audio over 16 MB", async () => {
    const { server, post } = await open();
    server.addMedia({ id: "1", mimeType: "image/webp", content: new Uint8Array(4) });
    server.addMedia({ id: "2", mimeType: "audio/ogg", content: new Uint8Array(16_777_217) });
    expect(await post(image)).toBe(131053);
    expect(await post({ type: "audio", audio: { id: "2" } })).toBe(131053);
    expect(await post({ type: "document", document: { id: "1", filename: "a.webp" } })).toBe(200);
  });
});

it("the fake Cloud API subscribes only a URL that answers the challenge, and signs what it delivers", async () => {
  const { server } = await open();
  expect(await server.subscribe(`${server.url}/elsewhere`)).toBe(false);
  expect(await server.push(textMessage("nobody listens"))).toBe(false);
  const { headers, body } = server.sign(messagePayload({ type: "text", text: { body: "é" } }));
  expect(headers["x-hub-signature-256"]).toMatch(/^sha256=[0-9a-f]{64}$/);
  expect(body).toContain("\\u00e9");
});
