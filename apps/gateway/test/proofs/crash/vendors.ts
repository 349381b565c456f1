import { setTimeout as sleep } from "node:timers/promises";
import { type DiscordMessage, type FakeDiscord, startDiscord } from "@signalbox/testkit/discord";
import { textMessage as slackMessage, startSlack } from "@signalbox/testkit/slack";
import { startTelegram, textMessage as telegramMessage } from "@signalbox/testkit/telegram";
import { nameOf, type Tag, textOf, type VendorName } from "./conversation.ts";
import type { Post } from "./evidence.ts";
import { startPage } from "./page.ts";
import type { Vendor, VendorAccess } from "./vendor.ts";

const AGAIN_MS = 40;
const BOT = { id: "1000", username: "signalbox" };

export const startVendor: Readonly<Record<VendorName, (access: VendorAccess) => Promise<Vendor>>> = {
  web: startPage,
  files: ({ reader, ...access }) => startPage({ ...access, ...reader }),
  discord: async () => {
    const person = "2001";
    const token = `${Buffer.from(BOT.id).toString("base64")}.made-up.secret-of-the-crash`;
    const platform = await startDiscord({ token, bot: BOT, users: { [person]: { username: "zhangsan" } } });
    const { id: channelId } = platform.directWith(person);
    const ids = new Map<string, string>();
    return {
      account: { token, apiBaseUrl: platform.url },
      person,
      secrets: [token],
      idOf: (tag) => ids.get(nameOf(tag)),
      async deliver(tag) {
        // Nobody is told of what is said before the bot has its first session.
        while (platform.gateway.connections() === 0) await sleep(AGAIN_MS);
        const { message, sequence } = platform.say({ channelId, authorId: person, content: textOf(tag) });
        ids.set(nameOf(tag), message.id);
        await acknowledged(platform, message, sequence);
      },
      posts: (chatId) =>
        platform.sent.map(({ id, content, contents, nonce, deleted }) =>
          postOf(
            { channel: "discord", chatId, messageId: id, texts: [...contents.slice(0, -1), content] },
            {
              key: String(nonce),
              deleted,
            },
          ),
        ),
      fail: (random) => platform.fail({ kind: random.pick(["rate", "status", "cut"]) }),
      heal: () => platform.heal(),
      stop: () => platform.stop(),
    };
  },
  slack: async () => {
    const person = "U_ZHANG";
    const channel = "D_ZHANG";
    const tokens = { botToken: "xoxb-token-of-the-crash", appToken: "xapp-token-of-the-crash" };
    const platform = await startSlack({ ...tokens, users: { [person]: { name: "张三" } } });
    const began = Math.floor(Date.now() / 1_000);
    const tsOf = ({ number }: Tag): string => `${began}.${String(number).padStart(6, "0")}`;
    return {
      account: { ...tokens, baseUrl: platform.apiUrl },
      person,
      secrets: Object.values(tokens),
      idOf: (tag) => `${channel}:${tsOf(tag)}`,
      async deliver(tag) {
        const eventId = `Ev_${nameOf(tag)}`;
        const event = slackMessage(escaped(textOf(tag)), { eventId, channel, user: person, ts: tsOf(tag) });
        const isTaken = () => platform.pushEvent(event).catch(() => false);
        while (!(await isTaken())) await sleep(AGAIN_MS);
      },
      posts: (chatId) =>
        platform.sent.map((sent) =>
          postOf(
            {
              channel: "slack",
              chatId,
              messageId: `${sent.channel}:${sent.ts}`,
              texts: sent.shown.map(unescaped),
            },
            { key: JSON.stringify(sent.metadata), deleted: sent.isDeleted },
          ),
        ),
      fail: (random) => platform.fail({ kind: random.pick(["rate", "status", "cut"]) }),
      heal: () => platform.heal(),
      stop: () => platform.stop(),
    };
  },
  telegram: async () => {
    const person = { id: 3_001, firstName: "三" };
    const token = "42:secret-of-the-crash-0123456789";
    const platform = await startTelegram({ token, users: [person] });
    return {
      account: { botToken: token, apiBaseUrl: platform.url },
      person: String(person.id),
      secrets: [token],
      idOf: ({ number }) => `${person.id}:${number}`,
      deliver: (tag) =>
        platform.push(
          telegramMessage(textOf(tag), { from: person, messageId: tag.number, updateId: 1_000 + tag.number }),
        ),
      posts: (chatId) =>
        platform.sent.map((sent) => {
          const messageId = `${sent.chatId}:${sent.messageId}`;
          // Telegram knows no keys.
          return postOf(
            { channel: "telegram", chatId, messageId, texts: sent.texts },
            {
              key: messageId,
              deleted: sent.deleted,
            },
          );
        }),
      fail: (random) => platform.fail({ kind: random.pick(["status", "cut"]) }),
      heal: () => platform.heal(),
      stop: () => platform.stop(),
    };
  },
};

/**
 * Waits until the bot has taken the event of a message. A session that was begun anew numbers its events anew, and is
 * told of the message again: of what a bot missed that had no session yet nobody tells it.
 */
async function acknowledged(
  platform: FakeDiscord,
  message: DiscordMessage,
  first: number | undefined,
): Promise<void> {
  const { gateway } = platform;
  let sequence = first;
  for (;;) {
    const session = gateway.identifies;
    let isTaken: boolean | undefined;
    if (sequence !== undefined)
      void platform.acknowledged(sequence).then((answer) => {
        isTaken = answer;
      });
    do await sleep(AGAIN_MS);
    while (isTaken === undefined && gateway.identifies === session);
    if (isTaken === true) return;
    if (gateway.identifies !== session)
      sequence = gateway.dispatch("MESSAGE_CREATE", platform.eventOf(message));
  }
}

/** Slack's own writing of what would be a link or a mention. */
function escaped(text: string): string {
  return text.replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Markdown that stands for the character itself. */
function unescaped(text: string): string {
  return text.replace(/\\([^\w\s])/g, "$1");
}

function postOf(
  { texts, ...place }: Pick<Post, "channel" | "chatId" | "messageId"> & { readonly texts: readonly string[] },
  more: Pick<Post, "key" | "deleted">,
): Post {
  const contents = texts.map((text) => JSON.stringify({ text: unescaped(text) }));
  return { ...place, ...more, content: contents.at(-1) ?? "", earlier: contents.slice(0, -1) };
}
