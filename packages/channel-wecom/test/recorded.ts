import type { Json } from "@signalbox/channel";
import type { RecordedPayload } from "@signalbox/channel/testkit";
import { wecomMessage } from "@signalbox/testkit/wecom";

const base = { msgid: "CAIQ16HMjQYY/NGagIOAgAMgq4KM0AI=", createTime: 1_767_225_600 };
const group = { ...base, chatId: "wrkSFfCgAAjs" };

/** JSON types do not contain `undefined`, which no payload here has. */
function payload(content: Record<string, unknown>, options: Parameters<typeof wecomMessage>[1] = base): Json {
  return JSON.parse(JSON.stringify(wecomMessage(content, options)));
}

const image = { url: "https://ww-aibot-img-1258476243.cos.ap-guangzhou.myqcloud.com/a?sign=b", aeskey: "k" };
const imageRef = { kind: "image", ref: { url: image.url, aesKey: "k" } };

/** Payloads in the shapes of document/path/100719, and the events that they mean. */
export const recorded: readonly RecordedPayload[] = [
  {
    name: "a direct text",
    payload: payload({ msgtype: "text", text: { content: "hello\r\nrobot" } }),
    events: [
      {
        type: "message",
        eventId: base.msgid,
        text: "hello\nrobot",
        addressed: "dm",
        address: "wecom:single/zhangsan",
        timestamp: 1_767_225_600_000,
        conversation: { id: "zhangsan", kind: "direct" },
        sender: { id: "zhangsan", isBot: false, isSelf: false },
        mentions: [],
      },
    ],
  },
  {
    name: "a mention in a group",
    payload: payload({ msgtype: "text", text: { content: "@RobotA hello robot" } }, group),
    events: [
      {
        text: "hello robot",
        addressed: "mention",
        address: "wecom:group/wrkSFfCgAAjs",
        conversation: { id: "wrkSFfCgAAjs", kind: "group" },
        mentions: [{ id: "aib-bot", isSelf: true }],
      },
    ],
  },
  {
    name: "a text that only mentions the bot",
    payload: payload({ msgtype: "text", text: { content: "@RobotA" } }, group),
    events: [{ text: "", addressed: "mention" }],
  },
  {
    name: "an address at the start of a direct text",
    payload: payload({ msgtype: "text", text: { content: "@someone hi" } }),
    events: [{ text: "@someone hi" }],
  },
  {
    name: "a quoted text",
    payload: payload(
      { msgtype: "text", text: { content: "@RobotA is that right?" } },
      { ...group, quote: { msgtype: "text", text: { content: "the harbour is closed" } } },
    ),
    events: [
      { text: "is that right?", references: [{ kind: "reply", text: "the harbour is closed", media: [] }] },
    ],
  },
  {
    name: "a quoted message with text and an image",
    payload: payload(
      { msgtype: "text", text: { content: "look" } },
      {
        ...base,
        quote: {
          msgtype: "mixed",
          mixed: {
            msg_item: [
              { msgtype: "text", text: { content: "the plan" } },
              { msgtype: "image", image },
            ],
          },
        },
      },
    ),
    events: [
      { text: "look", media: [], references: [{ kind: "reply", text: "the plan", media: [imageRef] }] },
    ],
  },
  {
    name: "an image",
    payload: payload({ msgtype: "image", image }),
    events: [{ text: "", media: [imageRef] }],
  },
  {
    name: "text with images",
    payload: payload(
      {
        msgtype: "mixed",
        mixed: {
          msg_item: [
            { msgtype: "text", text: { content: "@RobotA compare" } },
            { msgtype: "image", image },
            { msgtype: "text", text: { content: "with this" } },
            { msgtype: "image", image },
          ],
        },
      },
      group,
    ),
    events: [{ text: "compare\nwith this", media: [imageRef, imageRef] }],
  },
  {
    name: "a transcribed voice message",
    payload: payload({ msgtype: "voice", voice: { content: "remind me at nine" } }),
    events: [{ text: "remind me at nine", media: [] }],
  },
  {
    name: "a file",
    payload: payload({ msgtype: "file", file: image }),
    events: [{ text: "", media: [{ ...imageRef, kind: "file" }] }],
  },
  {
    name: "a video",
    payload: payload({ msgtype: "video", video: image }),
    events: [{ text: "", media: [{ ...imageRef, kind: "video" }] }],
  },
  {
    name: "a message of an unknown type",
    payload: payload({ msgtype: "hologram", hologram: { url: "https://x" } }),
    events: [{ text: "", media: [] }],
  },
  {
    name: "a message without a sender",
    payload: { msgid: "m", chattype: "single", msgtype: "text", text: { content: "?" } },
    events: [],
  },
];
