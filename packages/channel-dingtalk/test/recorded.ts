import type { Json } from "@signalbox/channel";
import type { RecordedPayload } from "@signalbox/channel/testkit";
import {
  chatbotUserId,
  directId,
  directMessage,
  groupId,
  inGroup,
  person,
  textMessage,
} from "@signalbox/testkit/dingtalk";

const at = 1_769_851_697_611;
const options = { msgId: "msgMxpQ+qegFQ4MpgOyu0UFrQ==", createAt: at };
const messageId = `${directId}:${options.msgId}`;
const downloadCode = "mIofN681YE3f/+m+NntqpZSvSH2iMD6xP7Ow==";

function payload(name: string, message: unknown, ...events: RecordedPayload["events"]): RecordedPayload {
  return { name, payload: message as Json, events };
}

/** Messages in the shapes that DingTalk's page "Bot receives messages" and public issue threads show. */
export const recorded: readonly RecordedPayload[] = [
  payload("a text in a direct chat", textMessage("你好\n😀", options), {
    type: "message",
    text: "你好\n😀",
    messageId,
    addressed: "dm",
    address: "dingtalk:user/manager7",
    timestamp: at,
    conversation: { id: directId, kind: "direct" },
    sender: { id: "manager7", name: "张三", isBot: false, isSelf: false },
  }),
  payload("a mention in a group", inGroup(textMessage(" 几点发布？", options)), {
    type: "message",
    text: "几点发布？",
    addressed: "mention",
    address: "dingtalk:group/cidGroup1%3D%3D",
    conversation: { id: groupId, kind: "group", subject: "Release" },
    mentions: [{ id: "dingbot", isSelf: true }],
  }),
  payload(
    "a mention of the bot and of a member",
    {
      ...inGroup(textMessage(" @李四 请看", options)),
      atUsers: [{ dingtalkId: "$:LWCP_v1:$li", staffId: "staff2" }, { dingtalkId: chatbotUserId }],
    },
    {
      text: "@李四 请看",
      addressed: "mention",
      mentions: [
        { id: "staff2", isSelf: false },
        { id: "dingbot", isSelf: true },
      ],
    },
  ),
  payload(
    "a mention that only the flag reports",
    { ...inGroup(textMessage(" hi", options)), atUsers: [] },
    { text: "hi", addressed: "mention", mentions: [{ id: "dingbot", isSelf: true }] },
  ),
  payload(
    "a message in a group that does not mention the bot",
    { ...inGroup(textMessage("hello", options)), isInAtList: false, atUsers: [] },
    { text: "hello", addressed: "none" },
  ),
  payload(
    "rich text with a mention and two pictures",
    directMessage(
      "richText",
      {
        richText: [
          { text: "看这里 " },
          { type: "at", atName: "李四" },
          { type: "picture", downloadCode: "code-1", pictureDownloadCode: "picture-1" },
          { text: " 和这里" },
          { type: "picture", pictureDownloadCode: "picture-2" },
        ],
      },
      options,
    ),
    {
      text: "看这里 @李四 和这里",
      media: [
        { kind: "image", ref: { downloadCode: "code-1" } },
        { kind: "image", ref: { downloadCode: "picture-2" } },
      ],
    },
  ),
  payload(
    "a picture",
    directMessage("picture", { downloadCode, pictureDownloadCode: "picture-1" }, options),
    {
      text: "",
      media: [{ kind: "image", ref: { downloadCode } }],
    },
  ),
  payload(
    "a voice message with DingTalk's transcript",
    directMessage("audio", { downloadCode, duration: 4000, recognition: "明天上午开会。" }, options),
    { text: "明天上午开会。", media: [{ kind: "audio", ref: { downloadCode } }] },
  ),
  payload("a video", directMessage("video", { downloadCode, duration: 9, videoType: "mp4" }, options), {
    text: "",
    media: [{ kind: "video", mimeType: "video/mp4", ref: { downloadCode } }],
  }),
  payload(
    "a file",
    directMessage("file", { downloadCode, fileName: "报告 (1).pdf", spaceId: "1", fileId: "2" }, options),
    { text: "", media: [{ kind: "file", name: "报告 (1).pdf", ref: { downloadCode } }] },
  ),
  payload(
    "a quoted text",
    textMessage("是真的吗？", {
      ...options,
      fields: {
        originalMsgId: "msgOld==",
        text: {
          content: "是真的吗？",
          isReplyMsg: true,
          repliedMsg: {
            msgId: "msgOld==",
            msgType: "text",
            senderId: "$:LWCP_v1:$li",
            createdAt: at - 60_000,
            content: { text: "港口\r\n关闭了。" },
          },
        },
      },
    }),
    {
      text: "是真的吗？",
      references: [
        {
          kind: "reply",
          messageId: `${directId}:msgOld==`,
          text: "港口\n关闭了。",
          timestamp: at - 60_000,
          sender: { id: "$:LWCP_v1:$li", isSelf: false },
        },
      ],
    },
  ),
  payload(
    "a quoted picture",
    textMessage("这是什么？", {
      ...options,
      fields: {
        text: {
          content: "这是什么？",
          isReplyMsg: true,
          repliedMsg: { msgId: "msgOld==", msgType: "picture", content: { downloadCode } },
        },
      },
    }),
    { media: [], references: [{ kind: "reply", media: [{ kind: "image", ref: { downloadCode } }] }] },
  ),
  payload(
    "a quoted message of the bot, in a group",
    {
      ...inGroup(textMessage("继续", options)),
      isInAtList: false,
      atUsers: [],
      originalProcessQueryKey: "key-of-the-answer",
      text: {
        content: "继续",
        isReplyMsg: true,
        repliedMsg: {
          msgId: "msgBot==",
          msgType: "interactiveCard",
          senderId: chatbotUserId,
          content: { text: "第一部分" },
        },
      },
    },
    {
      addressed: "reply",
      references: [
        {
          kind: "reply",
          messageId: "key-of-the-answer",
          text: "第一部分",
          sender: { id: "dingbot", isSelf: true },
        },
      ],
    },
  ),
  payload(
    "a quote without its content",
    textMessage("?", {
      ...options,
      fields: { originalMsgId: "msgOld==", text: { content: "?", isReplyMsg: true } },
    }),
    { text: "?", references: [{ kind: "reply", messageId: `${directId}:msgOld==` }] },
  ),
  payload(
    "forwarded messages",
    directMessage("chatRecord", { summary: "张三: 港口关闭了", chatRecord: "[]" }, options),
    { text: "", media: [], references: [{ kind: "forward", text: "张三: 港口关闭了" }] },
  ),
  payload("a type that is not known yet", directMessage("hologram", { depth: 3 }, options), {
    text: "[hologram]",
  }),
  payload(
    "somebody outside the organization",
    inGroup(textMessage(" hi", { ...options, sender: { id: "$:LWCP_v1:$guest", nick: "客人" } })),
    { sender: { id: "$:LWCP_v1:$guest", name: "客人" }, address: "dingtalk:group/cidGroup1%3D%3D" },
  ),
  payload(
    "the bot's own message",
    inGroup(textMessage(" hi", { ...options, sender: { id: chatbotUserId, nick: person.nick } })),
    { sender: { id: "dingbot", isBot: true, isSelf: true } },
  ),
  payload("a message without ids", { ...textMessage("?", options), msgId: "" }),
];
