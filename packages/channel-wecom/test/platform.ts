import {
  type ChannelHarness,
  type Delivery,
  type Failure,
  openChannel,
  type Platform,
  type RunningChannel,
} from "@signalbox/channel/testkit";
import { type CallbackSecrets, sealCallback, textMessage, type WecomFault } from "@signalbox/testkit/wecom";
import { formatMessageId } from "../src/address.ts";
import type { WecomAddress, wecom } from "../src/index.ts";
import { callbacks, secret, settingsFor, startServer } from "./harness.ts";
import { recorded } from "./recorded.ts";

type Running = Parameters<Platform<WecomAddress>["deliver"]>[0];

const to: WecomAddress = { type: "single", id: "zhangsan" };
const NOW_SECONDS = () => Math.floor(Date.now() / 1_000);

/** WeCom sends no time with a rate limit. The channel's own delay is three seconds. */
const faults: Readonly<Record<Failure, WecomFault>> = {
  rate: { kind: "rate" },
  rate_until: { kind: "rate" },
  server: { kind: "busy" },
  lost_response: { kind: "hang" },
  silent: { kind: "hang" },
};

/** The time of all messages from people. Their ids contain it. */
const createTime = NOW_SECONDS();

function reqIdOf({ messageId }: Pick<Delivery, "messageId">): string {
  return `req-of-${messageId}`;
}

/** Creates a signed callback request. `change` damages it. */
export function callbackRequest(
  body: unknown,
  {
    secrets = callbacks,
    timestamp,
  }: { readonly secrets?: CallbackSecrets; readonly timestamp?: number } = {},
): { readonly query: URLSearchParams; readonly body: string } {
  const { query, encrypt } = sealCallback(
    secrets,
    JSON.stringify(body),
    timestamp === undefined ? {} : { timestamp },
  );
  return { query, body: JSON.stringify({ encrypt }) };
}

async function post(channel: Running, { query, body }: ReturnType<typeof callbackRequest>): Promise<number> {
  const request = new Request(`http://gateway/events?${query}`, { method: "POST", body });
  return (await channel.webhook?.(request))?.status ?? 0;
}

/** Sends a forged request, which would be a valid message without the forgery. */
export async function forge(
  channel: Running,
  how: Parameters<NonNullable<Platform<WecomAddress>["forge"]>>[1],
) {
  const event = textMessage("forged");
  const good = callbackRequest(event);
  switch (how) {
    case "missing":
      return post(channel, { ...good, query: new URLSearchParams() });
    case "wrong":
      return post(channel, callbackRequest(event, { secrets: { ...callbacks, token: "a guess" } }));
    case "tampered": {
      const { body } = callbackRequest(textMessage("another"));
      return post(channel, { ...good, body });
    }
    case "stale":
      return post(channel, callbackRequest(event, { timestamp: NOW_SECONDS() - 301 }));
    case "ahead":
      return post(channel, callbackRequest(event, { timestamp: NOW_SECONDS() + 302 }));
  }
}

export async function challenge(channel: Running): Promise<boolean> {
  const { query, encrypt } = sealCallback(callbacks, "1616140317555161061");
  query.set("echostr", encrypt);
  const response = await channel.webhook?.(new Request(`http://gateway/events?${query}`));
  return (await response?.text()) === "1616140317555161061";
}

/** Opens an account for callbacks. Its definition may run in a process of its own. */
function openCallbackAccount(definition: typeof wecom) {
  return openChannel(definition, { transport: "webhook", ...callbacks });
}

export const createHarness = (definition: typeof wecom): ChannelHarness<WecomAddress> => ({
  addresses: [to, { type: "group", id: "wrkSFfCgAAjs-_" }, { type: "single", id: "ü/b:% 😀" }],
  entry: { url: new URL("../src/index.ts", import.meta.url).href, sdk: ["ws", "@wecom/aibot-node-sdk"] },
  hasBots: false,
  recorded,
  async open(): Promise<Platform<WecomAddress>> {
    const fakeServer = await startServer();
    // An account receives either over the long connection or by callbacks. The suite's account is connected.
    let callbackAccount: RunningChannel<WecomAddress> | undefined;
    const content = Buffer.from("content");
    let answer = () => new Response(content, { headers: { "content-type": "text/plain" } });
    fakeServer.answerAt("/media/plain", () => answer());
    const url = `${fakeServer.url}/media/plain`;
    fakeServer.expectReply("req-of-the-question", to.id);
    return {
      config: settingsFor(fakeServer),
      secrets: [secret],
      to,
      draftReplyTo: formatMessageId({ msgid: "question", reqId: "req-of-the-question", sentAt: Date.now() }),
      messageId: (delivery) =>
        formatMessageId({
          msgid: delivery.messageId,
          reqId: reqIdOf(delivery),
          sentAt: createTime * 1_000,
        }),
      sent: () => fakeServer.sent.map(({ id, shown }) => ({ messageId: id, text: shown.at(-1) ?? "" })),
      drafted: () => fakeServer.sent.flatMap(({ shown }) => shown),
      sentMedia: () =>
        fakeServer.sent.flatMap(({ id, mediaId }) => {
          const upload = mediaId === undefined ? undefined : fakeServer.upload(mediaId);
          const kind = (["image", "video", "file"] as const).find((one) => one === upload?.type);
          if (upload === undefined || kind === undefined) return [];
          return [{ messageId: id, kind, name: upload.filename, content: upload.bytes }];
        }),
      // WeCom does not deliver the bot's own messages.
      deliver: async (_channel, delivery) =>
        delivery.from === "person"
          ? fakeServer.pushMessage(
              textMessage(delivery.text, { msgid: delivery.messageId, createTime }),
              reqIdOf(delivery),
            )
          : fakeServer.connections() > 0,
      deliverRecorded: async (_channel, payload) =>
        fakeServer.pushMessage(Object.fromEntries(Object.entries(payload ?? {}))),
      person: { id: to.id },
      forge: async (_channel, how) => {
        callbackAccount ??= await openCallbackAccount(definition);
        return forge(callbackAccount.channel, how);
      },
      challenge: async () => {
        callbackAccount ??= await openCallbackAccount(definition);
        return challenge(callbackAccount.channel);
      },
      fail: (how) => fakeServer.fail(faults[how]),
      setAway: (away) => fakeServer.setAway(away),
      revoke: () => fakeServer.revoke(),
      media: {
        // Without a key, as the SDK accepts it: the sizes in the suite are those of the content. See media.test.ts for
        // encrypted attachments.
        ref: { kind: "file", mimeType: "text/plain", ref: { url } },
        content,
        answerWith: (given) => {
          answer = given;
        },
        leadingTo: (address) => [{ url: address }],
      },
      close: async () => {
        await callbackAccount?.[Symbol.asyncDispose]();
        await fakeServer.stop();
      },
    };
  },
});
