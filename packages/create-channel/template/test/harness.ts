import type { ChannelHarness, Failure } from "@signalbox/channel/testkit";
import type { Address } from "../src/index.ts";
import direct from "./fixtures/direct-message.json" with { type: "json" };
import mention from "./fixtures/mention-in-group.json" with { type: "json" };
import { type Fault, startPlatform } from "./platform.ts";

const token = "token-of-the-bot";
const signingSecret = "secret-of-the-webhook";

const faults: Record<Failure, Fault> = {
  rate: { status: 429 },
  rate_until: { status: 429, retryAfter: 3 },
  server: { status: 500 },
  lost_response: "lost_response",
  silent: "silent",
};

const senders = {
  person: { id: "alice" },
  bot: { id: "another-bot", bot: true },
  self: { id: "bot", bot: true },
};

/** The fake platform and samples that the conformance suite runs the channel with. */
export const harness: ChannelHarness<Address> = {
  addresses: [{ conversation: "c1" }, { conversation: "ü/ä:% 😀" }],
  entry: { url: new URL("../src/index.ts", import.meta.url).href, sdk: [] },
  recorded: [
    {
      name: "a direct message",
      payload: direct,
      events: [
        { type: "message", addressed: "dm", text: "are you there?", sender: { id: "alice", name: "Alice" } },
      ],
    },
    {
      name: "a mention in a group",
      payload: mention,
      events: [
        {
          type: "message",
          addressed: "mention",
          references: [{ kind: "reply", messageId: "m1" }],
          mentions: [{ isSelf: true }],
        },
      ],
    },
  ],
  async open() {
    const platform = await startPlatform({ token, signingSecret });
    type Post = { webhook?(request: Request): Promise<Response> };
    const hand = async (channel: Post, request: RequestInit): Promise<number> =>
      (await channel.webhook?.(new Request("http://gateway/events", request)))?.status ?? 0;
    return {
      config: { apiUrl: platform.url, token, signingSecret },
      secrets: [token, signingSecret],
      to: { conversation: "c1" },
      sent: () =>
        platform.messages
          .filter(({ isDeleted }) => !isDeleted)
          .map(({ id, texts }) => ({ messageId: id, text: texts.at(-1) ?? "" })),
      drafted: () => platform.messages.flatMap(({ texts }) => texts),
      async deliver(channel, { eventId, messageId, text, from }) {
        const event = {
          ...direct,
          id: eventId,
          message: { id: messageId, text },
          from: senders[from],
          kind: from === "person" ? "direct" : "group",
        };
        return (await hand(channel, platform.signed(event))) === 200;
      },
      deliverRecorded: async (channel, payload) => (await hand(channel, platform.signed(payload))) === 200,
      async forge(channel, how) {
        const good = platform.signed(direct);
        if (how === "missing") return hand(channel, { method: "POST", body: JSON.stringify(direct) });
        if (how === "wrong") return hand(channel, platform.signed(direct, { secret: "a guess" }));
        if (how === "stale") return hand(channel, platform.signed(direct, { at: Date.now() - 3_600_000 }));
        if (how === "ahead") return hand(channel, platform.signed(direct, { at: Date.now() + 3_600_000 }));
        return hand(channel, { ...good, body: JSON.stringify(mention) });
      },
      async challenge(channel) {
        const request = platform.signed({ type: "challenge", challenge: "c-1" });
        const answer = await channel.webhook?.(new Request("http://gateway/events", request));
        return (await answer?.text()) === '{"challenge":"c-1"}';
      },
      fail: (how) => platform.fail(faults[how]),
      setAway: (away) => platform.setAway(away),
      revoke: () => platform.revoke(),
      close: () => platform.stop(),
    };
  },
};
