import { createRequire } from "node:module";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  type DingTalkOptions,
  type FakeDingTalk,
  groupId,
  person,
  ROBOT_TOPIC,
  startDingTalk,
  textMessage,
} from "../src/dingtalk/index.ts";

const credentials = { clientId: "dingbot", clientSecret: "secret-of-the-app" };

/** DingTalk's SDK for stream mode, in the build whose copy of axios a test can reach. */
const require = createRequire(import.meta.url);
const { DWClient }: typeof import("dingtalk-stream") = require("dingtalk-stream");
const axios = createRequire(require.resolve("dingtalk-stream"))("axios");

async function open(options: Partial<DingTalkOptions> = {}) {
  const fakeServer = await startDingTalk({ ...credentials, ...options });
  onTestFinished(() => fakeServer.stop());
  return fakeServer;
}

/** Connects the SDK, whose address of DingTalk cannot be configured. */
function connectSdk(fakeServer: FakeDingTalk, clientSecret = credentials.clientSecret) {
  vi.spyOn(console, "info").mockImplementation(() => {});
  const redirect = axios.interceptors.request.use((config: { url: string }) => ({
    ...config,
    url: config.url.replace("https://api.dingtalk.com", fakeServer.url),
  }));
  // The SDK's types lack this option.
  const settings = { ...credentials, clientSecret, autoReconnect: false };
  const client = new DWClient(settings);
  const received: string[] = [];
  onTestFinished(() => {
    client.disconnect();
    axios.interceptors.request.eject(redirect);
    vi.restoreAllMocks();
  });
  return { client, received };
}

async function post(fakeServer: FakeDingTalk, method: string, path: string, body: object, token?: string) {
  const response = await fetch(fakeServer.url + path, {
    method,
    headers: { "content-type": "application/json", ...(token && { "x-acs-dingtalk-access-token": token }) },
    body: JSON.stringify(body),
  });
  const answer: Record<string, unknown> = await response.json().then(Object);
  return { status: response.status, body: answer };
}

async function getToken(fakeServer: FakeDingTalk): Promise<string> {
  const body = { appKey: credentials.clientId, appSecret: credentials.clientSecret };
  return String((await post(fakeServer, "POST", "/v1.0/oauth2/accessToken", body)).body["accessToken"]);
}

describe("stream mode", () => {
  it("serves DingTalk's own SDK, which receives and acknowledges messages", async () => {
    const fakeServer = await open();
    const { client, received } = connectSdk(fakeServer);
    client.registerCallbackListener(ROBOT_TOPIC, ({ headers, data }) => {
      received.push(JSON.parse(data).text.content);
      client.socketCallBackResponse(headers.messageId, {});
    });
    await client.connect();
    await expect.poll(() => fakeServer.stream.count()).toBe(1);
    expect(await fakeServer.stream.push(textMessage("你好"))).toBe(true);
    expect(received).toEqual(["你好"]);
    expect(await fakeServer.stream.ping()).toBe(true);
  });

  it("delivers a message again that the SDK has not answered", async () => {
    const fakeServer = await open({ redeliverMs: 100 });
    const { client, received } = connectSdk(fakeServer);
    client.registerCallbackListener(ROBOT_TOPIC, ({ headers, data }) => {
      received.push(JSON.parse(data).msgId);
      if (received.length > 1) client.socketCallBackResponse(headers.messageId, {});
    });
    await client.connect();
    await expect.poll(() => fakeServer.stream.count()).toBe(1);
    expect(await fakeServer.stream.push(textMessage("again", { msgId: "msg1" }))).toBe(true);
    expect(received).toEqual(["msg1", "msg1"]);
  });

  it("refuses the SDK with a wrong secret, and a ticket that was used before", async () => {
    const fakeServer = await open();
    const { client } = connectSdk(fakeServer, "wrong");
    await client.connect();
    expect(fakeServer.stream.open()).toBe(0);
    const subscriptions = [{ type: "CALLBACK", topic: ROBOT_TOPIC }];
    const { body } = await post(fakeServer, "POST", "/v1.0/gateway/connections/open", {
      ...credentials,
      subscriptions,
    });
    const connect = () =>
      new Promise<string>((resolve) => {
        const socket = new WebSocket(`${body["endpoint"]}?ticket=${body["ticket"]}`);
        socket.onopen = () => resolve("open");
        socket.onerror = () => resolve("refused");
        onTestFinished(() => socket.close());
      });
    expect(await connect()).toBe("open");
    expect(await connect()).toBe("refused");
  });

  it("delivers nothing on connections after it has announced their end, and closes them later", async () => {
    const fakeServer = await open({ lingerMs: 200 });
    const { client } = connectSdk(fakeServer);
    await client.connect();
    await expect.poll(() => fakeServer.stream.count()).toBe(1);
    fakeServer.stream.disconnect();
    expect(fakeServer.stream.count()).toBe(0);
    expect(fakeServer.stream.open()).toBe(1);
    await expect(fakeServer.stream.push(textMessage("lost"))).rejects.toThrow("no connection");
    await expect.poll(() => fakeServer.stream.open()).toBe(0);
  });
});

describe("API", () => {
  const SEND = "/v1.0/robot/oToMessages/batchSend";
  const message = {
    robotCode: "dingbot",
    userIds: [person.staffId],
    msgKey: "sampleText",
    msgParam: JSON.stringify({ content: "hi" }),
  };

  it("refuses tokens after two hours", async () => {
    let now = 1_767_225_600_000;
    const fakeServer = await open({ now: () => now });
    const token = await getToken(fakeServer);
    expect((await post(fakeServer, "POST", SEND, message, token)).status).toBe(200);
    now += 7_200_000;
    expect(await post(fakeServer, "POST", SEND, message, token)).toMatchObject({
      status: 400,
      body: { code: "InvalidAuthentication" },
    });
  });

  it("refuses more than 20 calls of an API in a second", async () => {
    let now = 1_767_225_600_000;
    const fakeServer = await open({ now: () => now, rateLimit: true });
    const token = await getToken(fakeServer);
    const send = async () => (await post(fakeServer, "POST", SEND, message, token)).status;
    for (let count = 0; count < 20; count += 1) expect(await send()).toBe(200);
    expect(await send()).toBe(403);
    now += 1_001;
    expect(await send()).toBe(200);
  });

  it.each([
    ["a misspelled field", { msgParams: "{}" }],
    ["another bot", { robotCode: "other" }],
    ["an unknown template", { msgKey: "sampleHologram" }],
    ["parameters that are not JSON", { msgParam: "hi" }],
    ["a misspelled parameter", { msgParam: JSON.stringify({ contents: "hi" }) }],
    ["parameters of more than 15,000 bytes", { msgParam: JSON.stringify({ content: "长".repeat(5_000) }) }],
    ["a person outside the organization", { userIds: ["nobody"] }],
    [
      "an image that was not uploaded",
      { msgKey: "sampleImageMsg", msgParam: JSON.stringify({ photoURL: "@none" }) },
    ],
  ])("refuses a message with %s", async (_, wrong) => {
    const fakeServer = await open();
    const token = await getToken(fakeServer);
    expect((await post(fakeServer, "POST", SEND, { ...message, ...wrong }, token)).status).toBe(400);
    expect(fakeServer.sent).toEqual([]);
  });

  it("refuses to stream after the end, into unknown cards, and into cards that do not stream", async () => {
    const fakeServer = await open();
    const token = await getToken(fakeServer);
    const create = (outTrackId: string, callbackType = "STREAM") =>
      post(
        fakeServer,
        "POST",
        "/v1.0/card/instances/createAndDeliver",
        {
          cardTemplateId: "t.schema",
          outTrackId,
          callbackType,
          cardData: { cardParamMap: { msgContent: "a", sys_full_json_obj: '{"order":["msgContent"]}' } },
          openSpaceId: `dtv1.card//IM_GROUP.${groupId}`,
          imGroupOpenDeliverModel: { robotCode: "dingbot" },
        },
        token,
      );
    const write = (outTrackId: string, isFinalize = false) =>
      post(
        fakeServer,
        "PUT",
        "/v1.0/card/streaming",
        { outTrackId, guid: "1", key: "msgContent", content: "ab", isFull: true, isFinalize, isError: false },
        token,
      );
    expect((await create("one")).status).toBe(200);
    expect((await create("one")).status).toBe(400);
    expect((await write("one")).status).toBe(200);
    expect((await write("one", true)).status).toBe(200);
    expect((await write("one")).status).toBe(400);
    expect((await write("other")).status).toBe(400);
    await create("two", "HTTP");
    expect((await write("two")).status).toBe(500);
    expect(fakeServer.sent.map(({ shown }) => shown)).toEqual([["a", "ab"], ["a"]]);
  });

  it("names the missing permission", async () => {
    const fakeServer = await open({ missingScopes: ["qyapi_robot_sendmsg"] });
    const refused = await post(fakeServer, "POST", SEND, message, await getToken(fakeServer));
    expect(refused).toMatchObject({
      status: 403,
      body: { accessdenieddetail: { requiredScopes: ["qyapi_robot_sendmsg"] } },
    });
  });
});
