import {
  fileMessage,
  groupMention,
  imageMessage,
  messageEvent,
  postMessage,
  push,
  reaction,
  recalled,
  replyMessage,
  startFeishu,
  textMessage,
  threadMessage,
} from "@signalbox/testkit/feishu";
import type { Random } from "../crash/random.ts";
import type { MalformedPlatform, Posted } from "./malformed.ts";
import { anyHeaders, bytes, damaged, type Vocabulary } from "./nonsense.ts";

const APP = { appId: "cli_malformed", appSecret: "secret-of-the-feishu-app" };
const VERIFICATION = "verification-of-the-app";
const ENCRYPT = "encryption-of-the-app";
const OWNER = "ou_owner_of_the_gateway";
const PLAIN = "/channels/feishu/plain/events";
const SEALED = "/channels/feishu/sealed/events";

const words: Vocabulary = {
  names: [
    ...(["event", "header", "message", "sender", "content", "token", "encrypt", "schema"] as const),
    ...(["challenge", "mentions", "message_type", "chat_type", "sender_id", "event_type"] as const),
    ...(["event_id", "create_time", "uuid", "key"] as const),
    ...(["parent_id", "root_id", "thread_id", "upper_message_id", "update_time", "emoji_type"] as const),
  ],
  texts: [
    ...(["@_user_1", '{"text":1}', '{"text":"@_user_1"}', '{"content":[[{"tag":"at"}]]}'] as const),
    ...(["1767225599123", "p2p", "group", "url_verification", "card.action.trigger"] as const),
    ...(["im.message.receive_v1", "im.message.recalled_v1"] as const),
  ],
};

/** An account that takes events as they are, and one that wants them sealed. */
export async function malformedFeishu(): Promise<MalformedPlatform> {
  const feishu = await startFeishu({ ...APP, verificationToken: VERIFICATION, encryptKey: ENCRYPT });
  const account = { ...APP, verificationToken: VERIFICATION, baseUrl: feishu.url };
  const sound = textMessage("are you there?", { senderId: OWNER, messageId: "om_sound", chatId: "oc_owner" });
  return {
    channel: "feishu",
    accounts: { plain: account, sealed: { ...account, encryptKey: ENCRYPT } },
    owner: OWNER,
    nonsense: (random, number) => nonsense(random, number, feishu.bot),
    sound: () => ({ ...push(sound, { token: VERIFICATION }), path: PLAIN }),
    sent: () => feishu.sent.map(({ content }) => content),
    stop: () => feishu.stop(),
  };
}

const signed = {
  "x-lark-signature": ["0".repeat(64), "", "x"],
  "x-lark-request-timestamp": ["0", "-1", "1e99", "now"],
  "x-lark-request-nonce": ["n"],
} as const;

/** Something no platform sends: a damaged event, well sealed or not, or no event at all. */
function nonsense(random: Random, number: number, bot: { openId: string; name: string }): Posted {
  const kind = random.next();
  if (kind < 0.1)
    return {
      method: "POST",
      path: random.pick([PLAIN, SEALED]),
      headers: anyHeaders(random, signed),
      body: bytes(random),
    };
  const event = damaged(random, soundEvent(random, number, bot), words);
  if (kind < 0.45) return { ...push(event, { token: VERIFICATION }), path: PLAIN };
  const sealed = push(event, { token: VERIFICATION, encryptKey: ENCRYPT });
  if (kind < 0.8) return { ...sealed, path: SEALED };
  // Sound in itself, but not as it was signed, sent or addressed.
  const { headers } = sealed;
  const cut = sealed.body.slice(0, random.int(0, sealed.body.length));
  const body = random.pick([sealed.body, cut, `${sealed.body}}`, JSON.stringify(event)]);
  return {
    method: random.pick(["POST", "POST", "POST", "GET", "PUT", "DELETE"]),
    path: random.pick([
      SEALED,
      PLAIN,
      `${SEALED}/x`,
      "/channels/feishu/nobody/events",
      "/channels/feishu/plain/",
    ]),
    headers: random.chance(0.5) ? headers : anyHeaders(random, signed),
    body,
  };
}

function soundEvent(random: Random, number: number, bot: { openId: string; name: string }): unknown {
  const ids = { eventId: `ev_${number}`, messageId: `om_${number}`, senderId: `ou_${random.int(0, 50)}` };
  switch (random.int(0, 9)) {
    case 0:
      return postMessage(
        [
          [
            { tag: "text", text: "a" },
            { tag: "at", user_id: "ou_1" },
          ],
          [{ tag: "img", image_key: "i" }],
        ],
        ids,
      );
    case 1:
      return imageMessage("img_1", ids);
    case 2:
      return fileMessage("file_1", "notes.txt", ids);
    case 3:
      return groupMention("hello", bot, ids);
    case 4:
      return replyMessage("hello", "om_parent", ids);
    case 5:
      return recalled(`om_${random.int(0, number)}`);
    case 6:
      return messageEvent("merge_forward", { content: "Merged and Forwarded Message" }, ids);
    case 7:
      return threadMessage("hello", { threadId: "omt_thread", rootId: "om_parent" }, ids);
    case 8:
      return reaction(`om_${random.int(0, number)}`, "THUMBSUP", ids);
    default:
      return textMessage("hello", ids);
  }
}
