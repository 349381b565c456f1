import { isPayload, type OutboundMediaKind, textAt } from "@signalbox/channel";
import {
  type ChannelHarness,
  type Choice,
  type Failure,
  type Platform,
  type ReferencedMessage,
  runChannelConformance,
} from "@signalbox/channel/testkit";
import {
  buttonsOf,
  type DiscordMessage,
  type Doing,
  type FakeDiscord,
  type Interaction,
  optionsOf,
  wordsIn,
} from "@signalbox/testkit/discord";
import { afterAll, describe, it } from "vitest";
import { inMatrix } from "../../../scripts/channel-matrix.ts";
import { type DiscordAddress, discord } from "../src/index.ts";
import { bot, channelId, openFakeServer, otherBot, threadId, token, until, zhang } from "./harness.ts";
import { recorded } from "./recorded.ts";

type Running = Parameters<Platform<DiscordAddress>["deliver"]>[0];

/** The visible text, without escape characters. */
function shown(content: string): string {
  return content.replace(/\\([\\*_`~|#>.)+-])/g, "$1");
}

/** Emits an event and resolves with whether the host accepted it. */
async function tell(
  fakeServer: FakeDiscord,
  channel: Running,
  what: () => number | undefined,
): Promise<boolean> {
  if (channel.health().state === "stopped") return false;
  const sequence = what();
  return sequence !== undefined && (await fakeServer.acknowledged(sequence));
}

/** The interaction of choosing a button or a menu option. */
function doingOf(message: DiscordMessage, label: string): Doing {
  const option = optionsOf(message).find((one) => one.label === label);
  if (option !== undefined)
    return { kind: "choose", messageId: message.id, customId: option.customId, value: option.value };
  const button = buttonsOf(message).find((one) => one.label === label);
  if (button === undefined) throw new Error(`There is no choice ${label}.`);
  return { kind: "click", messageId: message.id, customId: button.customId };
}

/** Interactions by the suite's names, so that one can be delivered again. */
function interactionsOf(fakeServer: FakeDiscord) {
  const begun = new Map<string, Interaction>();

  async function use(channel: Running, eventId: string, doing: () => Doing): Promise<boolean> {
    return tell(fakeServer, channel, () => {
      const earlier = begun.get(eventId);
      if (earlier !== undefined) return fakeServer.tellAgain(earlier);
      const interaction = fakeServer.interact(channelId, zhang, doing());
      begun.set(eventId, interaction);
      return interaction.sequence;
    });
  }

  return {
    use,
    async choose(channel: Running, { eventId, messageId, label, text }: Choice): Promise<boolean> {
      const message = fakeServer.sent.find(({ id }) => id === messageId);
      if (message === undefined) throw new Error("There is no such message.");
      const isTaken = await use(channel, eventId, () => doingOf(message, label));
      if (text === undefined) return isTaken;
      const opened = begun.get(eventId);
      await until(() => opened?.form !== undefined);
      if (opened === undefined) return false;
      return use(channel, `${eventId} filled in`, () => ({ kind: "submit", opened, text }));
    },
  };
}

const kinds: Readonly<Record<string, OutboundMediaKind>> = {
  "image/png": "image",
  "audio/ogg": "audio",
  "video/mp4": "video",
  "text/plain": "file",
};

/** Adds a message of another bot with an image. */
function plantAbout(fakeServer: FakeDiscord, place: string, { text }: ReferencedMessage, id?: string) {
  const picture = { id: "9001", name: "plan.png", mimeType: "image/png", content: new Uint8Array(4) };
  const message = { channelId: place, authorId: otherBot, content: text, attachments: [picture] };
  return fakeServer.plant(id === undefined ? message : { ...message, id });
}

const harness: ChannelHarness<DiscordAddress> = {
  addresses: [{ channelId: "1" }, { channelId: "1234567890123456789", interactionId: "99" }],
  entry: {
    url: new URL("../src/index.ts", import.meta.url).href,
    sdk: ["discord.js", "@discordjs/ws", "@discordjs/rest", "ws", "undici"],
  },
  recorded,
  async open() {
    const fakeServer = await openFakeServer();
    const content = Buffer.from("content");
    const file = { id: "8100", name: "notes.txt", mimeType: "text/plain", content: new Uint8Array(content) };
    const withFile = fakeServer.plant({ channelId, authorId: zhang, attachments: [file] });
    const [attachment] = fakeServer.eventOf(withFile)["attachments"] as readonly { readonly url: string }[];
    const faults: Record<Failure, Parameters<typeof fakeServer.fail>[0]> = {
      rate: { kind: "rate", method: "POST" },
      rate_until: { kind: "rate", method: "POST", seconds: 3 },
      server: { kind: "status", status: 502, method: "POST" },
      lost_response: { kind: "cut", method: "POST" },
      silent: { kind: "hang", method: "POST" },
    };
    const said = new Map<string, DiscordMessage>();
    const interactions = interactionsOf(fakeServer);
    return {
      config: { token, apiBaseUrl: fakeServer.url },
      secrets: [token, "secret-of-the-bot"],
      to: { channelId },
      sent: () =>
        fakeServer.sent
          .filter((one) => !one.deleted)
          .map((one) => ({ messageId: one.id, text: shown(wordsIn(one)) })),
      drafted: () => fakeServer.sent.flatMap((one) => one.contents.map(shown)),
      sentMedia: () =>
        fakeServer.sent.flatMap((one) =>
          one.attachments.map(({ name, mimeType, content: bytes }) => ({
            messageId: one.id,
            kind: kinds[mimeType] ?? "file",
            name,
            content: bytes,
          })),
        ),
      polls: () =>
        fakeServer.sent.flatMap(({ id, poll }) => (poll === undefined ? [] : [{ messageId: id, ...poll }])),
      vote: (messageId, counts) => fakeServer.vote(messageId, counts),
      deliver: (channel, { messageId, text, from }) =>
        tell(fakeServer, channel, () => {
          const place = from === "person" ? fakeServer.directWith(zhang).id : channelId;
          const authorId = { person: zhang, self: bot.id, bot: otherBot }[from];
          const { message, sequence } = fakeServer.say({
            id: messageId,
            channelId: place,
            authorId,
            content: text,
          });
          said.set(messageId, message);
          return sequence;
        }),
      refer: {
        reply: async (channel, { messageId, text }, about) => {
          const place = fakeServer.directWith(zhang).id;
          const { id } = plantAbout(fakeServer, place, about);
          const happen = () =>
            fakeServer.say({ id: messageId, channelId: place, authorId: zhang, content: text, replyTo: id })
              .sequence;
          return { isAcknowledged: await tell(fakeServer, channel, happen) };
        },
        thread: async (channel, { messageId, text }, about) => {
          plantAbout(fakeServer, channelId, about, threadId);
          const happen = () =>
            fakeServer.say({
              id: messageId,
              channelId: threadId,
              authorId: zhang,
              content: `<@${bot.id}> ${text}`,
            }).sequence;
          return { isAcknowledged: await tell(fakeServer, channel, happen) };
        },
        forward: async (channel, { messageId }, about) => {
          const place = fakeServer.directWith(zhang).id;
          const snapshot = fakeServer.eventOf(plantAbout(fakeServer, channelId, about));
          const carrier = fakeServer.eventOf(
            fakeServer.plant({ id: messageId, channelId: place, authorId: zhang, content: "" }),
          );
          const happen = () =>
            fakeServer.gateway.dispatch("MESSAGE_CREATE", {
              ...carrier,
              message_reference: { type: 1, channel_id: channelId, message_id: snapshot["id"] },
              message_snapshots: [{ message: snapshot }],
            });
          return { isAcknowledged: await tell(fakeServer, channel, happen) };
        },
      },
      async miss({ messageId, text }) {
        fakeServer.say({
          id: messageId,
          channelId: fakeServer.directWith(zhang).id,
          authorId: zhang,
          content: text,
        });
      },
      person: { id: zhang, name: "张三" },
      reactions: (messageId) => [...(said.get(messageId)?.reactions ?? [])],
      choices(messageId) {
        const message = fakeServer.sent.find(({ id }) => id === messageId);
        return message === undefined
          ? []
          : [...optionsOf(message), ...buttonsOf(message)].map(({ label }) => label);
      },
      choose: interactions.choose,
      commands: () =>
        fakeServer.commands.flatMap((one) => (isPayload(one) ? (textAt(one, "name") ?? []) : [])),
      command: (channel, { eventId, name, args }) =>
        interactions.use(channel, eventId, () => ({
          kind: "command",
          name,
          options: args === "" ? [] : [{ name: "text", value: args }],
        })),
      deliverRecorded: (channel, payload) =>
        tell(fakeServer, channel, () => {
          const { t, d } = payload as { readonly t: string; readonly d: Record<string, unknown> };
          return fakeServer.gateway.dispatch(t, d);
        }),
      fail: (how) => fakeServer.fail(faults[how]),
      setAway: (away) =>
        away ? fakeServer.fail({ kind: "status", status: 503, times: 1000 }) : fakeServer.heal(),
      revoke: () => fakeServer.revoke(),
      media: {
        ref: {
          kind: "file",
          mimeType: "text/plain",
          ref: { channelId, messageId: withFile.id, attachmentId: "8100", url: attachment?.url ?? "" },
        },
        content,
        answerWith: (answer) => fakeServer.answerAt("/attachments/", answer),
        leadingTo(address) {
          const of = { channelId, messageId: withFile.id, attachmentId: "8100" };
          // If the URL has expired, the message is looked up again.
          fakeServer.answerAt(`/api/v10/channels/${channelId}/messages/${withFile.id}`, () =>
            Response.json({ attachments: [{ id: "8100", url: address }] }),
          );
          const ended = `${fakeServer.url}/attachments/1/2/a?ex=1`;
          return [
            { ...of, url: address },
            { ...of, url: ended },
          ];
        },
      },
      close: () => fakeServer.stop(),
    };
  },
};

runChannelConformance(discord, harness, { test: { describe, it, afterAll }, print: inMatrix("discord") });
