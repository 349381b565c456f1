import type { OutboundMediaKind } from "@signalbox/channel";
import {
  type ChannelHarness,
  type Failure,
  type Platform,
  runChannelConformance,
} from "@signalbox/channel/testkit";
import type { DiscordStandIn } from "@signalbox/testkit/discord";
import { afterAll, describe, it } from "vitest";
import { inMatrix } from "../../../scripts/channel-matrix.ts";
import { type DiscordAddress, discord } from "../src/index.ts";
import { bot, channelId, openStandIn, otherBot, token, zhang } from "./harness.ts";
import { recorded } from "./recorded.ts";

type Running = Parameters<Platform<DiscordAddress>["deliver"]>[0];

/** What a reader sees: what escapes marks is not there. */
function shown(content: string): string {
  return content.replace(/\\([\\*_`~|#>.)+-])/g, "$1");
}

/** Tells the channel of something. Resolves with whether it was taken. */
async function tell(
  standIn: DiscordStandIn,
  channel: Running,
  what: () => number | undefined,
): Promise<boolean> {
  if (channel.health().state === "stopped") return false;
  const sequence = what();
  return sequence !== undefined && (await standIn.acknowledged(sequence));
}

const kinds: Readonly<Record<string, OutboundMediaKind>> = {
  "image/png": "image",
  "audio/ogg": "audio",
  "video/mp4": "video",
  "text/plain": "file",
};

const harness: ChannelHarness<DiscordAddress> = {
  addresses: [{ channelId: "1" }, { channelId: "1234567890123456789", interactionId: "99" }],
  entry: {
    url: new URL("../src/index.ts", import.meta.url).href,
    sdk: ["discord.js", "@discordjs/ws", "@discordjs/rest", "ws", "undici"],
  },
  recorded,
  async open() {
    const standIn = await openStandIn();
    const content = Buffer.from("content");
    const file = { id: "8100", name: "notes.txt", mimeType: "text/plain", content: new Uint8Array(content) };
    const withFile = standIn.plant({ channelId, authorId: zhang, attachments: [file] });
    const [attachment] = standIn.eventOf(withFile)["attachments"] as readonly { readonly url: string }[];
    const faults: Record<Failure, Parameters<typeof standIn.fail>[0]> = {
      rate: { kind: "rate", method: "POST" },
      "rate-until": { kind: "rate", method: "POST", seconds: 3 },
      server: { kind: "status", status: 502, method: "POST" },
      "lost-answer": { kind: "cut", method: "POST" },
    };
    return {
      config: { token, apiBaseUrl: standIn.url },
      secrets: [token, "secret-of-the-bot"],
      to: { channelId },
      sent: () =>
        standIn.sent
          .filter((one) => !one.deleted)
          .map((one) => ({ messageId: one.id, text: shown(one.content) })),
      drafted: () => standIn.sent.flatMap((one) => one.contents.map(shown)),
      sentMedia: () =>
        standIn.sent.flatMap((one) =>
          one.attachments.map(({ name, mimeType, content: bytes }) => ({
            messageId: one.id,
            kind: kinds[mimeType] ?? "file",
            name,
            content: bytes,
          })),
        ),
      polls: () =>
        standIn.sent.flatMap(({ id, poll }) => (poll === undefined ? [] : [{ messageId: id, ...poll }])),
      deliver: (channel, { messageId, text, from }) =>
        tell(standIn, channel, () => {
          const place = from === "person" ? standIn.directWith(zhang).id : channelId;
          const authorId = { person: zhang, self: bot.id, bot: otherBot }[from];
          return standIn.say({ id: messageId, channelId: place, authorId, content: text }).sequence;
        }),
      deliverRecorded: (channel, payload) =>
        tell(standIn, channel, () => {
          const { t, d } = payload as { readonly t: string; readonly d: Record<string, unknown> };
          return standIn.gateway.dispatch(t, d);
        }),
      fail: (how) => standIn.fail(faults[how]),
      setAway: (away) => (away ? standIn.fail({ kind: "status", status: 503, times: 1000 }) : standIn.heal()),
      revoke: () => standIn.revoke(),
      media: {
        ref: {
          kind: "file",
          mimeType: "text/plain",
          ref: { channelId, messageId: withFile.id, attachmentId: "8100", url: attachment?.url ?? "" },
        },
        content,
      },
      close: () => standIn.stop(),
    };
  },
};

runChannelConformance(discord, harness, { test: { describe, it, afterAll }, print: inMatrix("discord") });
