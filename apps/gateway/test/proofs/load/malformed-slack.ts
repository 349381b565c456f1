import {
  appMention,
  buttonClick,
  changed,
  channelMention,
  deleted,
  push,
  reaction,
  type SlackDelivery,
  signed as signedRequest,
  slashCommand,
  startSlack,
  textMessage,
} from "@signalbox/testkit/slack";
import type { Random } from "../crash/random.ts";
import type { MalformedPlatform, Posted } from "./malformed.ts";
import { anyHeaders, bytes, damaged, type Vocabulary } from "./nonsense.ts";

const BOT_TOKEN = "xoxb-token-of-the-bot";
const SECRET = "signing-secret-of-the-app";
const OWNER = "U_OWNER_OF_THE_GATEWAY";
const EVENTS = "/channels/slack/main/events";

const words: Vocabulary = {
  names: [
    ...([
      "event",
      "subtype",
      "channel",
      "channel_type",
      "user",
      "bot_id",
      "ts",
      "thread_ts",
      "team",
    ] as const),
    ...(["blocks", "elements", "style", "files", "message", "previous_message", "edited", "item"] as const),
    ...([
      "actions",
      "container",
      "value",
      "action_id",
      "trigger_id",
      "command",
      "event_ts",
      "challenge",
    ] as const),
    ...(["attachments", "is_share", "is_msg_unfurl", "author_id", "from_url", "parent_user_id"] as const),
  ],
  texts: [
    ...(["<@U_BOT>", "<@", "<!channel>", "1767225599.000100", "im", "mpim", "channel", "group"] as const),
    ...([
      "message_changed",
      "thread_broadcast",
      "message_deleted",
      "file_share",
      "app_mention",
      "block_actions",
    ] as const),
    ...(["url_verification", "event_callback", "reaction_added", "rich_text"] as const),
  ],
};

/** An account that takes signed requests. */
export async function malformedSlack(): Promise<MalformedPlatform> {
  const slack = await startSlack({ botToken: BOT_TOKEN, signingSecret: SECRET });
  const account = { botToken: BOT_TOKEN, signingSecret: SECRET, transport: "webhook", baseUrl: slack.apiUrl };
  return {
    channel: "slack",
    accounts: { main: account },
    owner: OWNER,
    nonsense,
    sound: () => ({
      ...push(textMessage("are you there?", { user: OWNER, channel: "D_OWNER" }), { signingSecret: SECRET }),
      path: EVENTS,
    }),
    sent: () => slack.sent.map(({ shown }) => shown.at(-1) ?? ""),
    stop: () => slack.stop(),
  };
}

const signed = {
  "x-slack-signature": [`v0=${"0".repeat(64)}`, "v0=", "", "x"],
  "x-slack-request-timestamp": ["0", "-1", "1e99", "now"],
  "x-slack-retry-num": ["1", "x"],
} as const;

/** Something Slack never sends: a damaged delivery, well signed or not, or no delivery at all. */
function nonsense(random: Random, number: number): Posted {
  const kind = random.next();
  if (kind < 0.1)
    return { method: "POST", path: EVENTS, headers: anyHeaders(random, signed), body: bytes(random) };
  const delivery = soundDelivery(random, number);
  const body = Object.fromEntries(Object.entries(damaged(random, delivery.body, words) ?? {}));
  const sealed = push({ ...delivery, body }, { signingSecret: SECRET });
  if (kind < 0.7) return { ...sealed, path: EVENTS };
  const cut = sealed.body.slice(0, random.int(0, sealed.body.length));
  if (kind < 0.85) {
    const type = random.pick(["application/json", "application/x-www-form-urlencoded", ""]);
    return { ...signedRequest(cut, type, { signingSecret: SECRET }), path: EVENTS };
  }
  // Sound in itself, but not as it was signed, sent or addressed.
  return {
    method: random.pick(["POST", "POST", "POST", "GET", "PUT", "DELETE"]),
    path: random.pick([EVENTS, `${EVENTS}/x`, "/channels/slack/nobody/events", "/channels/slack/main/"]),
    headers: random.chance(0.5) ? sealed.headers : anyHeaders(random, signed),
    body: random.pick([cut, `${sealed.body}}`]),
  };
}

function soundDelivery(random: Random, number: number): SlackDelivery {
  const ts = `1767225600.${String(number).padStart(6, "0")}`;
  const ids = { eventId: `Ev${number}`, clientMsgId: `c-${number}`, user: `U${random.int(0, 50)}`, ts };
  switch (random.int(0, 11)) {
    case 0:
      return channelMention("hello", "U_BOT", ids);
    case 1:
      return appMention(channelMention("hello", "U_BOT", ids));
    case 2:
      return changed("new", "old", ids);
    case 3:
      return deleted(ts, ids);
    case 4:
      return reaction(ts, "+1", ids);
    case 5:
      return buttonClick(ts, { id: "0:decide", value: '{"id":1}' }, ids);
    case 6:
      return slashCommand("/signalbox", "status", ids);
    case 7: {
      const elements = [
        { type: "rich_text_section", elements: [{ type: "text", text: "a", style: { bold: true } }] },
      ];
      const file = {
        id: "F1",
        name: "a.png",
        mimetype: "image/png",
        size: 1,
        url_private: "https://files.slack.com/a",
      };
      return textMessage("hello", { ...ids, blocks: [{ type: "rich_text", elements }], files: [file] });
    }
    case 8: {
      const shared = {
        is_share: true,
        is_msg_unfurl: true,
        author_id: "U1",
        text: "before",
        ts,
        files: [{ id: "F1" }],
      };
      const delivery = textMessage("look", ids);
      const event = { ...Object(delivery.body["event"]), attachments: [shared] };
      return { ...delivery, body: { ...delivery.body, event } };
    }
    case 9:
      return textMessage("in a thread", { ...ids, threadTs: "1767225600.000001", parentUser: "U_BOT" });
    case 10:
      return changed("<@U_BOT> hello", "hello", { ...ids, channel: "C_GENERAL" });
    default:
      return textMessage("hello", ids);
  }
}
