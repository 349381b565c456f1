import { once } from "node:events";
import { connect } from "node:net";
import type { ChannelContext, ChannelDefinition, InboundEvent } from "@signalbox/channel";
import { feishu } from "@signalbox/channel-feishu";
import { messageEvent, textMessage } from "@signalbox/testkit/feishu";
import { expect, test } from "vitest";
import { createGateway } from "../../src/create-gateway.ts";
import { demoConfig, eventually, exampleConfig, LI, openWorld, TOKEN, ZHANG } from "../support/harness.ts";
import { plainMessage } from "../support/plain-channel.ts";

/** Sends raw bytes as an upgrade request and gives what comes back until the connection ends. */
async function upgrade(url: string, path: string, more = ""): Promise<string> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  let answer = "";
  socket.on("data", (data) => {
    answer += data.toString();
  });
  socket.on("error", () => {});
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${more}\r\n`,
  );
  await once(socket, "close");
  return answer;
}

test("an upgrade request to any path but /ws is rejected", async () => {
  const world = await openWorld();
  world.configure(demoConfig());
  const { url } = await world.start();
  for (const path of ["//", "//[", "http://[", "*", "/", "/ws/", "/%ff"]) {
    expect(await upgrade(url, path), path).toMatch(/^HTTP\/1\.1 4\d\d /);
  }
  expect(await upgrade(url, "/ws")).toMatch(/^HTTP\/1\.1 401 /);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

test("a client that disconnects during an upgrade causes no failure", async () => {
  const world = await openWorld();
  world.configure(demoConfig());
  const { url } = await world.start();
  const { hostname, port, host } = new URL(url);
  for (let i = 0; i < 20; i++) {
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write(`GET /no HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
    socket.resetAndDestroy();
    await once(socket, "close");
  }
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

test("an empty SIGNALBOX_TOKEN counts as none, and a short one is rejected", async () => {
  const world = await openWorld();
  world.configure({ gateway: { port: 0 } });
  const { url } = await world.startChild([], { SIGNALBOX_TOKEN: "" });
  const login = (token: string) =>
    fetch(`${url}/api/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token }),
    });
  expect((await login("")).status).toBe(401);
  expect((await login(TOKEN)).status).toBe(401);

  const short = await world.command(["start"], { SIGNALBOX_TOKEN: "guess" });
  expect(short.code).toBe(78);
  expect(short.err).toContain("SIGNALBOX_TOKEN");
});

test("a reply answers only messages of its own conversation, whatever the model names", async () => {
  const world = await openWorld();
  world.configure(exampleConfig());
  const started = await world.start();
  const texts = ["First.", "[[reply_to: om_elsewhere]] Second.", "[[reply_to: om_first]] Third."];
  world.script(texts.map((text) => ({ text })));
  await started.post(textMessage("elsewhere", { senderId: LI, chatId: "oc_li", messageId: "om_elsewhere" }));
  await started.settled();
  for (const messageId of ["om_first", "om_second"]) {
    await started.post(textMessage("here", { senderId: ZHANG, chatId: "oc_zhang", messageId }));
    await started.settled();
  }
  expect(world.feishu.sent.map(({ parentId }) => parentId)).toEqual(["om_elsewhere", "om_first", "om_first"]);
});

test.each([
  ["an own message", textMessage("read this", { senderId: ZHANG, messageId: "om_1" }), "agent_allow"],
  [
    "a forwarded one",
    messageEvent("merge_forward", "Merged and Forwarded Message", { senderId: ZHANG }),
    "taint_message_elsewhere",
  ],
])(
  "whether an owner's run may write elsewhere after %s is decided by what it holds",
  async (_, event, rule) => {
    const world = await openWorld();
    const access = { dm: "pairing", owners: [`feishu:${ZHANG}`] };
    world.configure(exampleConfig({ gateway: { port: 0, auth: { token: TOKEN }, shutdownMs: 0 }, access }));
    const { post, settled, gateway } = await world.start();
    const elsewhere = { name: "message", input: { action: "send", message: "Elsewhere.", target: LI } };
    world.script([{ text: "Read." }, { toolCalls: [elsewhere] }, { text: "Done." }]);
    await post(event);
    await settled();
    await post(textMessage("go on", { senderId: ZHANG, messageId: "om_2" }));
    const decided = async (): Promise<string[]> => {
      const trace = await gateway.service.trace("om_2");
      return (trace?.entries ?? []).flatMap(
        ({ summary }) => /^message: \w+ \((.+?)\)/.exec(summary)?.[1] ?? [],
      );
    };
    await eventually(async () => (await decided()).length > 0, "the call is decided");
    expect(await decided()).toEqual([rule]);
  },
);

test("a reply to an account that is down waits for it", async () => {
  const world = await openWorld();
  const accounts: ChannelContext<unknown>[] = [];
  const definition = fakeChannel((context) => accounts.push(context));
  const gateway = await createGateway({
    home: world.home.dir,
    env: {},
    config: { gateway: { port: 0 }, access: { dm: "open" }, channels: { fake: { accounts: { main: {} } } } },
    channels: [definition],
    logLevel: "silent",
  });
  try {
    expect(await accounts[0]?.emit(fakeMessage)).toBe("accepted");
    await eventually(
      async () => (await gateway.service.status()).inboxPending === 0,
      "the message has its end",
    );
    expect(await gateway.service.status()).toMatchObject({ inboxPending: 0, outboxPending: 1 });
  } finally {
    await gateway.stop();
  }
});

const fakeMessage: InboundEvent = plainMessage("message-1", "hello", { channel: "fake", address: "chat-1" });

/** A channel whose platform cannot be reached. */
function fakeChannel(made: (context: ChannelContext<unknown>) => void): ChannelDefinition {
  const { capabilities } = feishu;
  return {
    ...feishu,
    id: "fake",
    config: { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } },
    capabilities,
    codec: { encode: String, decode: (text) => text },
    create: async (context) => {
      made(context);
      const down = async (): Promise<never> => {
        throw new Error("unreachable");
      };
      return {
        start: down,
        stop: async () => {},
        health: () => ({ state: "starting" }),
        self: () => undefined,
        send: down,
      };
    },
  };
}
