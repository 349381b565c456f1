import type { Json } from "@signalbox/channel";
import type { RecordedPayload } from "@signalbox/channel/testkit";

const phoneNumberId = "106540352242922";
const own = "15550783881";
const sender = { id: "16505551234", name: "Sheena Nelson", isBot: false, isSelf: false };
const address = "whatsapp:16505551234";
const timestamp = "1744344496";
const at = 1_744_344_496_000;
const groupId = "Y2FwaV9ncm91cDoxODA1NTU1MDE3MjoxMjAzNjMyMjI3NzE5NjMwNjcZD";

function change(value: Readonly<Record<string, Json>>, field = "messages"): Json {
  const metadata = { display_phone_number: own, phone_number_id: phoneNumberId };
  const changes = [{ value: { messaging_product: "whatsapp", metadata, ...value }, field }];
  return { object: "whatsapp_business_account", entry: [{ id: "419561257915477", changes }] };
}

const contacts = [{ profile: { name: "Sheena Nelson" }, wa_id: "16505551234" }];

function message(content: Readonly<Record<string, Json>>, id = "wamid.1"): Json {
  return change({ contacts, messages: [{ from: "16505551234", id, timestamp, ...content }] });
}

const written = {
  type: "message",
  eventId: "wamid.1",
  messageId: "wamid.1",
  botId: phoneNumberId,
  address,
  addressed: "dm",
  timestamp: at,
  conversation: { id: "16505551234", kind: "direct" },
  sender,
} as const;

const file = { sha256: "SfInY0gGKTsJlUWbwxC1k+FAD0FZHvzwfpvO0zX0GUI=", id: "1003383421387256" };
const ref = { id: file.id };

/** Messages of people. */
const messages: readonly RecordedPayload[] = [
  {
    name: "a text",
    payload: message({ type: "text", text: { body: "Does it come in another color?\r\n颜色" } }),
    events: [{ ...written, text: "Does it come in another color?\n颜色", media: [], mentions: [] }],
  },
  {
    name: "a picture with a caption",
    payload: message({
      type: "image",
      image: { ...file, caption: "Taj Mahal", mime_type: "image/jpeg" },
    }),
    events: [{ ...written, text: "Taj Mahal", media: [{ kind: "image", mimeType: "image/jpeg", ref }] }],
  },
  {
    name: "a picture without a caption has no text",
    payload: message({ type: "image", image: { ...file, mime_type: "image/jpeg" } }),
    events: [{ ...written, text: "", media: [{ kind: "image", mimeType: "image/jpeg", ref }] }],
  },
  {
    name: "a video with a caption keeps the caption",
    payload: message({ type: "video", video: { ...file, caption: "看这里", mime_type: "video/mp4" } }),
    events: [{ ...written, text: "看这里", media: [{ kind: "video", mimeType: "video/mp4", ref }] }],
  },
  {
    name: "a voice message",
    payload: message({
      type: "audio",
      audio: { ...file, mime_type: "audio/ogg; codecs=opus", voice: true },
    }),
    events: [{ ...written, text: "", media: [{ kind: "audio", mimeType: "audio/ogg", ref }] }],
  },
  {
    name: "a document with its name",
    payload: message({
      type: "document",
      document: { ...file, caption: "Please sign", filename: "lease.pdf", mime_type: "application/pdf" },
    }),
    events: [
      {
        ...written,
        text: "Please sign",
        media: [{ kind: "file", mimeType: "application/pdf", name: "lease.pdf", ref }],
      },
    ],
  },
  {
    name: "a sticker is a sticker and not a picture",
    payload: message({ type: "sticker", sticker: { ...file, mime_type: "image/webp", animated: false } }),
    events: [{ ...written, text: "", media: [{ kind: "sticker", mimeType: "image/webp", ref }] }],
  },
  {
    name: "a location",
    payload: message({
      type: "location",
      location: {
        address: "101 Forest Ave, Palo Alto, CA 94301",
        latitude: 37.44221496582,
        longitude: -122.16165924072,
        name: "Philz Coffee",
      },
    }),
    events: [
      {
        ...written,
        text: "[location: Philz Coffee, 101 Forest Ave, Palo Alto, CA 94301, 37.44221496582, -122.16165924072]",
      },
    ],
  },
  {
    name: "shared contacts",
    payload: message({
      type: "contacts",
      contacts: [
        {
          name: { first_name: "Lucía", formatted_name: "Lucía Gómez" },
          phones: [{ phone: "+1 (983) 555-2319", wa_id: "19835552319", type: "MOBILE" }],
        },
        { name: { formatted_name: "李雷" }, emails: [{ email: "li@example.org" }] },
      ],
    }),
    events: [
      { ...written, text: "[contact: Lucía Gómez +1 (983) 555-2319]\n[contact: 李雷 li@example.org]" },
    ],
  },
  {
    name: "an order",
    payload: message({
      type: "order",
      order: {
        catalog_id: "194836987003835",
        text: "By Friday",
        product_items: [
          { product_retailer_id: "di9ozbzfi4", quantity: 2, item_price: 30, currency: "USD" },
          { product_retailer_id: "nqryix03ez", quantity: 1, item_price: 25, currency: "USD" },
        ],
      },
    }),
    events: [{ ...written, text: "By Friday\n[order: 2 × di9ozbzfi4 (30 USD); 1 × nqryix03ez (25 USD)]" }],
  },
  {
    name: "a message of an unknown type is not swallowed",
    payload: message({
      type: "unsupported",
      errors: [
        {
          code: 131051,
          title: "Message type unknown",
          error_data: { details: "Message type is currently not supported." },
        },
      ],
    }),
    events: [{ ...written, text: "[unsupported message: Message type is currently not supported.]" }],
  },
  {
    name: "a person whose number is hidden has a business-scoped user id",
    payload: change({
      contacts: [{ profile: { name: "Kim" }, user_id: "US.13491208655302741918" }],
      messages: [
        {
          from_user_id: "US.13491208655302741918",
          id: "wamid.1",
          timestamp,
          type: "text",
          text: { body: "hi" },
        },
      ],
    }),
    events: [
      {
        ...written,
        address: "whatsapp:US.13491208655302741918",
        conversation: { id: "US.13491208655302741918", kind: "direct" },
        sender: { ...sender, id: "US.13491208655302741918", name: "Kim" },
        text: "hi",
      },
    ],
  },
];

/** Messages that refer to others. */
const references: readonly RecordedPayload[] = [
  {
    name: "a reply to the bot",
    payload: message({
      type: "text",
      text: { body: "And this one?" },
      context: { from: own, id: "wamid.0" },
    }),
    events: [
      {
        ...written,
        text: "And this one?",
        references: [{ kind: "reply", messageId: "wamid.0", sender: { id: phoneNumberId, isSelf: true } }],
      },
    ],
  },
  {
    name: "a forwarded picture belongs to somebody else",
    payload: message({
      type: "image",
      image: { ...file, caption: "Free coffee", mime_type: "image/jpeg" },
      context: { forwarded: true },
    }),
    events: [
      {
        ...written,
        text: "",
        media: [],
        references: [
          { kind: "forward", text: "Free coffee", media: [{ kind: "image", mimeType: "image/jpeg", ref }] },
        ],
      },
    ],
  },
  {
    name: "a message through an advertisement",
    payload: message({
      type: "text",
      text: { body: "Can I get more info on this?" },
      referral: {
        source_url: "https://fb.me/3cr4",
        source_type: "ad",
        headline: "Chat with us",
        body: "Succulents",
      },
    }),
    events: [
      {
        ...written,
        text: "Can I get more info on this?",
        references: [{ kind: "forward", text: "Chat with us\nSucculents\nhttps://fb.me/3cr4" }],
      },
    ],
  },
  {
    name: "a question about a product",
    payload: message({
      type: "text",
      text: { body: "Is this still available?" },
      context: {
        from: own,
        id: "wamid.0",
        referred_product: { catalog_id: "1", product_retailer_id: "di9" },
      },
    }),
    events: [
      {
        ...written,
        text: "Is this still available?",
        references: [{ kind: "reply", messageId: "wamid.0", text: "[product: di9]" }],
      },
    ],
  },
  {
    name: "a message in a group that does not mention the bot",
    payload: message({ type: "text", text: { body: "hello all" }, group_id: groupId }),
    events: [
      {
        ...written,
        address: `whatsapp:group/${groupId}`,
        addressed: "none",
        conversation: { id: groupId, kind: "group" },
        text: "hello all",
      },
    ],
  },
  {
    name: "a mention of the bot's number in a group",
    payload: message({ type: "text", text: { body: `@${own} what is due?` }, group_id: groupId }),
    events: [
      {
        ...written,
        address: `whatsapp:group/${groupId}`,
        addressed: "mention",
        conversation: { id: groupId, kind: "group" },
        text: "what is due?",
        mentions: [{ id: phoneNumberId, isSelf: true }],
      },
    ],
  },
  {
    name: "a reply to the bot in a group",
    payload: message({
      type: "text",
      text: { body: "thanks" },
      group_id: groupId,
      context: { from: own, id: "wamid.0" },
    }),
    events: [
      {
        ...written,
        address: `whatsapp:group/${groupId}`,
        addressed: "reply",
        conversation: { id: groupId, kind: "group" },
        text: "thanks",
      },
    ],
  },
];

/** Choices, reactions, edits and deletions. */
const changes: readonly RecordedPayload[] = [
  {
    name: "a tap on one of our buttons",
    payload: message({
      type: "interactive",
      context: { from: own, id: "wamid.0" },
      interactive: { type: "button_reply", button_reply: { id: '["allow",{"id":"q-1"}]', title: "Yes" } },
    }),
    events: [
      {
        type: "action",
        eventId: "wamid.1",
        messageId: "wamid.0",
        actionId: "allow",
        value: { id: "q-1" },
        sender,
      },
    ],
  },
  {
    name: "a choice from one of our lists",
    payload: message({
      type: "interactive",
      context: { from: own, id: "wamid.0" },
      interactive: { type: "list_reply", list_reply: { id: '["later"]', title: "Later", description: "…" } },
    }),
    events: [{ type: "action", messageId: "wamid.0", actionId: "later", sender }],
  },
  {
    name: "a choice that somebody else offered is what the person says",
    payload: message({
      type: "interactive",
      context: { from: own, id: "wamid.0" },
      interactive: { type: "list_reply", list_reply: { id: "priority_express", title: "Priority Express" } },
    }),
    events: [{ ...written, text: "Priority Express" }],
  },
  {
    name: "a tap on the button of a template",
    payload: message({
      type: "button",
      context: { from: own, id: "wamid.0" },
      button: { payload: "Unsubscribe", text: "Unsubscribe" },
    }),
    events: [{ ...written, text: "Unsubscribe" }],
  },
  {
    name: "a reaction",
    payload: message({ type: "reaction", reaction: { message_id: "wamid.0", emoji: "👍" } }),
    events: [{ type: "reaction", messageId: "wamid.0", emoji: "👍", added: true, sender }],
  },
  {
    name: "a reaction that is taken back comes without an emoji",
    payload: message({ type: "reaction", reaction: { message_id: "wamid.0" } }),
    events: [{ type: "reaction", messageId: "wamid.0", emoji: "", added: false, sender }],
  },
  {
    name: "an edit",
    payload: message({
      type: "edit",
      edit: {
        original_message_id: "wamid.0",
        message: {
          context: { id: "M0" },
          type: "image",
          image: { ...file, caption: "Better", mime_type: "image/jpeg" },
        },
      },
    }),
    events: [
      {
        type: "edited",
        eventId: "wamid.1",
        messageId: "wamid.0",
        text: "Better",
        media: [{ kind: "image", mimeType: "image/jpeg", ref }],
      },
    ],
  },
  {
    name: "a deletion",
    payload: message({ type: "revoke", revoke: { original_message_id: "wamid.0" } }),
    events: [{ type: "deleted", eventId: "wamid.1", messageId: "wamid.0", sender }],
  },
  {
    name: "a changed phone number needs no reaction",
    payload: change({
      messages: [
        {
          from: "16505551234",
          id: "wamid.1",
          timestamp,
          type: "system",
          system: { body: "User changed number", wa_id: "12195555358", type: "user_changed_number" },
        },
      ],
    }),
    events: [],
  },
  {
    name: "a message from the WhatsApp Business app is the bot's own",
    payload: change(
      {
        message_echoes: [
          {
            from: own,
            to: "16505551234",
            id: "wamid.2",
            timestamp,
            type: "text",
            text: { body: "I take over" },
          },
        ],
      },
      "smb_message_echoes",
    ),
    events: [
      {
        ...written,
        eventId: "wamid.2",
        messageId: "wamid.2",
        text: "I take over",
        sender: { id: phoneNumberId, isBot: true, isSelf: true },
      },
    ],
  },
];

function status(fields: Readonly<Record<string, Json>>): Json {
  return change({ statuses: [{ id: "wamid.3", timestamp, recipient_id: "16505551234", ...fields }] });
}

/** Statuses, and webhooks of other kinds. */
const statuses: readonly RecordedPayload[] = [
  {
    name: "a sent message needs no reaction",
    payload: status({ status: "sent", biz_opaque_callback_data: "abcdefghij0123456789.0" }),
    events: [],
  },
  {
    name: "a message that failed later, because the window is over",
    payload: status({
      status: "failed",
      errors: [
        {
          code: 131047,
          title: "Re-engagement message",
          message: "Re-engagement message",
          error_data: { details: "Message failed to send because more than 24 hours have passed." },
        },
      ],
    }),
    events: [
      {
        type: "delivery",
        eventId: "wamid.3 failed",
        messageId: "wamid.3",
        state: "failed",
        code: "permission",
        address,
        sender: { id: phoneNumberId, isBot: true, isSelf: true },
      },
    ],
  },
  {
    name: "a message that failed for an unknown reason",
    payload: status({ status: "failed", errors: [{ code: 131999, title: "Something new" }] }),
    events: [{ type: "delivery", messageId: "wamid.3", reason: "Something new (131999)" }],
  },
  {
    name: "an event of another number of the same app",
    payload: {
      object: "whatsapp_business_account",
      entry: [
        {
          id: "1",
          changes: [
            {
              field: "messages",
              value: {
                metadata: { display_phone_number: "15550000000", phone_number_id: "999999999999999" },
                contacts,
                messages: [
                  { from: "16505551234", id: "wamid.9", timestamp, type: "text", text: { body: "hi" } },
                ],
              },
            },
          ],
        },
      ],
    },
    events: [],
  },
  {
    name: "an update of the business account",
    payload: {
      object: "whatsapp_business_account",
      entry: [{ id: "1", changes: [{ field: "account_update", value: { event: "VERIFIED_ACCOUNT" } }] }],
    },
    events: [],
  },
  {
    name: "several messages in one webhook",
    payload: change({
      contacts,
      messages: ["one", "two"].map((body) => ({
        from: "16505551234",
        id: `wamid.${body}`,
        timestamp,
        type: "text",
        text: { body },
      })),
    }),
    events: [{ text: "one" }, { text: "two" }],
  },
];

/** Payloads in the shapes that Meta's documentation of the webhooks describes, with the events that they mean. */
export const recorded: readonly RecordedPayload[] = [...messages, ...references, ...changes, ...statuses];
