import {
  click,
  commandMessage,
  groupMention,
  groupMigration,
  messageObject,
  person,
  startTelegram,
  type TelegramUpdate,
  textMessage,
  update,
} from "@signalbox/testkit/telegram";
import type { Random } from "../crash/random.ts";
import type { MalformedPlatform, Posted } from "./malformed.ts";
import { anyHeaders, bytes, damaged, type Vocabulary } from "./nonsense.ts";

const TOKEN = "42:secret-of-the-bot-0123456789";
const SECRET = "secret-of-the-webhook-0123456789";
const OWNER = 1_999;
const UPDATES = "/channels/telegram/main/updates";
const SECRET_HEADER = "x-telegram-bot-api-secret-token";

const words: Vocabulary = {
  names: [
    ...([
      "update_id",
      "message",
      "edited_message",
      "channel_post",
      "callback_query",
      "chat",
      "from",
    ] as const),
    ...(["message_id", "message_thread_id", "date", "edit_date", "entities", "caption", "photo"] as const),
    ...(["document", "voice", "file_id", "file_size", "media_group_id", "reply_to_message"] as const),
    ...(["rich_message", "blocks", "items", "cells", "caption", "credit", "summary"] as const),
    ...(["forward_origin", "sender_chat", "is_bot", "is_topic_message", "data", "offset"] as const),
    ...(["quote", "external_reply", "origin", "location", "live_period", "migrate_to_chat_id"] as const),
  ],
  texts: [
    ...(["@signalbox_bot", "/status", "/status@signalbox_bot", "private", "supergroup", "channel"] as const),
    ...(["mention", "text_mention", "bot_command", "text_link", "pre", "hidden_user", "decide"] as const),
  ],
};

/** An account that takes posts of Telegram. */
export async function malformedTelegram(): Promise<MalformedPlatform> {
  const telegram = await startTelegram({ token: TOKEN });
  const account = {
    botToken: TOKEN,
    transport: "webhook",
    webhookSecret: SECRET,
    webhookUrl: `https://gateway.example${UPDATES}`,
    apiBaseUrl: telegram.url,
  };
  return {
    channel: "telegram",
    accounts: { main: account },
    owner: String(OWNER),
    nonsense,
    sound: () => posted(JSON.stringify(textMessage("are you there?", { from: { id: OWNER } }))),
    sent: () => telegram.sent.map(({ text }) => text),
    stop: () => telegram.stop(),
  };
}

function posted(body: string): Posted {
  const headers = { "content-type": "application/json", [SECRET_HEADER]: SECRET };
  return { method: "POST", path: UPDATES, headers, body };
}

const signed = { [SECRET_HEADER]: ["", "x", SECRET.slice(1), `${SECRET}0`] } as const;

/** Something Telegram never sends: a damaged update, with its secret or another, or no update at all. */
function nonsense(random: Random, number: number): Posted {
  const kind = random.next();
  if (kind < 0.1)
    return { method: "POST", path: UPDATES, headers: anyHeaders(random, signed), body: bytes(random) };
  const body = JSON.stringify(damaged(random, soundUpdate(random, number), words)) ?? "";
  if (kind < 0.7) return posted(body);
  const cut = body.slice(0, random.int(0, body.length));
  if (kind < 0.85) return posted(cut);
  // Sound in itself, but not as it was secured, sent or addressed.
  return {
    method: random.pick(["POST", "POST", "POST", "GET", "PUT", "DELETE"]),
    path: random.pick([UPDATES, "/channels/telegram/nobody/updates", "/channels/telegram/"]),
    headers: random.chance(0.3) ? posted(body).headers : anyHeaders(random, signed),
    body: random.pick([body, cut, `${body}}`]),
  };
}

function soundUpdate(random: Random, number: number): TelegramUpdate {
  const from = { id: random.int(2_000, 2_050) };
  const ids = { updateId: number, messageId: number, from };
  switch (random.int(0, 10)) {
    case 0:
      return groupMention("hello", "signalbox_bot", ids);
    case 1:
      return commandMessage("/status", ids);
    case 2:
      return click("decide 1", { chatId: String(from.id), messageId: number }, { from, updateId: number });
    case 3: {
      const photo = [{ file_id: "f", file_unique_id: "u", file_size: 1, width: 1, height: 1 }];
      return textMessage("hello", { ...ids, fields: { photo, media_group_id: String(number) } });
    }
    case 4: {
      const reply = textMessage("before", { from: person })["message"];
      const origin = { type: "hidden_user", sender_user_name: "Somebody", date: 1 };
      return textMessage("hello", { ...ids, fields: { reply_to_message: reply, forward_origin: origin } });
    }
    case 5: {
      const list = { type: "list", items: [{ label: "1.", value: 1, blocks: [{ type: "divider" }] }] };
      const table = { type: "table", cells: [[{ text: "hello" }], [{ text: ["hel", "lo"] }]] };
      const quote = { type: "blockquote", blocks: [list, table], credit: { type: "bold", text: "Somebody" } };
      return update(
        "message",
        messageObject(undefined, { ...ids, fields: { rich_message: { blocks: [quote] } } }),
        number,
      );
    }
    case 6: {
      const mention = messageObject("@signalbox_bot hello", {
        ...ids,
        fields: { edit_date: 2, entities: [{ type: "mention", offset: 0, length: 14 }] },
      });
      return update("edited_message", mention, number);
    }
    case 7: {
      const location = { latitude: 1.5, longitude: 2.5, live_period: 900, heading: 10 };
      const fields = { location, edit_date: 2 };
      return update("edited_message", messageObject(undefined, { ...ids, fields }), number);
    }
    case 8: {
      const origin = { type: "user", sender_user: person, date: 1 };
      const fields = {
        quote: { text: "part of it", position: 3, entities: [{ type: "bold", offset: 0, length: 4 }] },
        external_reply: { origin, message_id: 5, photo: [{ file_id: "f", width: 1, height: 1 }] },
      };
      return textMessage("hello", { ...ids, fields });
    }
    case 9: {
      const [first, second = first] = groupMigration(-number, -1_000_000_000_000 - number);
      return (random.chance(0.5) ? first : second) ?? textMessage("hello", ids);
    }
    default:
      return textMessage("hello", ids);
  }
}
