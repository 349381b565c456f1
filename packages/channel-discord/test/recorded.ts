import type { RecordedPayload } from "@signalbox/channel/testkit";
import {
  answer,
  at,
  attachment,
  bot,
  gatewayEvent,
  ids,
  inGuild,
  interaction,
  message,
  millis,
  person,
  said,
  voice,
} from "./recorded-parts.ts";

/** One event of each kind from Discord's documentation, with the expected events. */
export const recorded: readonly RecordedPayload[] = [
  said("a direct message", message("100"), {
    addressed: "dm",
    text: "hello",
    conversation: { id: ids.direct, kind: "direct" },
    address: `discord:${ids.direct}`,
    sender: { id: ids.person, name: "张三", isBot: false, isSelf: false },
  }),
  said("a message in a server", message("101", inGuild), {
    addressed: "none",
    conversation: { id: ids.channel, kind: "channel", guildId: ids.guild, subject: "general" },
    sender: { id: ids.person, roles: ["7101"], isBot: false, isSelf: false },
  }),
  said(
    "a mention",
    message("102", {
      ...inGuild,
      content: `<@${ids.bot}> ask <@${ids.person}> <:wave:55>`,
      mentions: [bot, person],
    }),
    {
      addressed: "mention",
      text: "ask @张三 :wave:",
      mentions: [
        { id: ids.bot, isSelf: true },
        { id: ids.person, isSelf: false, name: "张三" },
      ],
    },
  ),
  said(
    "a mention of the role that came with the bot",
    message("103", { ...inGuild, content: `<@&${ids.botRole}> hello`, mention_roles: [ids.botRole] }),
    { addressed: "mention", text: "hello", mentions: [{ id: ids.bot, isSelf: true }] },
  ),
  said(
    "a mention of somebody else's role",
    message("104", { ...inGuild, content: "<@&7101> hello", mention_roles: ["7101"] }),
    { addressed: "none", text: "<@&7101> hello", mentions: [] },
  ),
  said(
    "everybody is called",
    message("105", { ...inGuild, content: "@everyone hello", mention_everyone: true }),
    {
      addressed: "none",
    },
  ),
  said(
    "a reply to the bot, which calls it by answering",
    message("106", {
      ...inGuild,
      type: 19,
      content: "and Spain?",
      mentions: [bot],
      message_reference: { type: 0, channel_id: ids.channel, message_id: "501", guild_id: ids.guild },
      referenced_message: answer,
    }),
    {
      addressed: "reply",
      text: "and Spain?",
      references: [
        { kind: "reply", messageId: "501", text: "Paris.", sender: { id: ids.bot, isSelf: true } },
      ],
    },
  ),
  said(
    "a reply to a message that is gone",
    message("107", {
      ...inGuild,
      type: 19,
      message_reference: { type: 0, channel_id: ids.channel, message_id: "502", guild_id: ids.guild },
      referenced_message: null,
    }),
    { addressed: "none", references: [{ kind: "reply", messageId: "502" }] },
  ),
  said("a message in a thread", message("108", { ...inGuild, channel_id: ids.thread }), {
    conversation: { id: ids.thread, parentId: ids.channel, kind: "channel", guildId: ids.guild },
    address: `discord:${ids.thread}`,
  }),
  said("a post of a forum", message("109", { ...inGuild, channel_id: ids.post }), {
    conversation: { id: ids.post, parentId: ids.forum, kind: "channel", guildId: ids.guild },
  }),
  said("a picture and a voice message", message("110", { content: "", attachments: [attachment, voice] }), {
    text: "",
    media: [
      {
        kind: "image",
        mimeType: "image/png",
        name: "chart.png",
        size: 1234,
        ref: { channelId: ids.direct, messageId: "110", attachmentId: "8001", url: attachment.url },
      },
      { kind: "audio", mimeType: "audio/ogg" },
    ],
  }),
  said(
    "a message that is passed on",
    message("111", {
      content: "",
      message_reference: { type: 1, channel_id: ids.channel, message_id: "503" },
      message_snapshots: [
        {
          message: {
            type: 0,
            content: "do as I say",
            mentions: [],
            mention_roles: [],
            attachments: [attachment],
            embeds: [],
            timestamp: at,
            edited_timestamp: null,
            flags: 0,
            components: [],
          },
        },
      ],
    }),
    {
      text: "",
      media: [],
      references: [{ kind: "forward", text: "do as I say", media: [{ kind: "image" }] }],
    },
  ),
  said(
    "a sticker",
    message("112", { content: "", sticker_items: [{ id: "6001", name: "Wave", format_type: 1 }] }),
    { text: "[sticker Wave]" },
  ),
  said(
    "a poll",
    message("113", {
      content: "",
      poll: {
        question: { text: "When?" },
        answers: [
          { answer_id: 1, poll_media: { text: "Now" } },
          { answer_id: 2, poll_media: { text: "Later" } },
        ],
        expiry: at,
        allow_multiselect: false,
        layout_type: 1,
        results: { answer_counts: [], is_finalized: false },
      },
    }),
    { text: "[poll] When?\n- Now\n- Later" },
  ),
  said(
    "a feed writes in embeds",
    message("114", {
      ...inGuild,
      content: "",
      webhook_id: "6100",
      author: { ...person, id: "6100", username: "news", global_name: null, bot: true },
      embeds: [
        {
          type: "rich",
          title: "Released",
          description: "Version 2",
          fields: [{ name: "by", value: "us", inline: false }],
        },
      ],
    }),
    { text: "Released\nVersion 2\nby: us", sender: { id: "6100", isBot: true, isSelf: false } },
  ),
  said(
    "another bot writes in components",
    message("133", {
      ...inGuild,
      content: "",
      flags: 1 << 15,
      author: { ...person, id: "6200", username: "builds", global_name: null, bot: true },
      components: [
        { type: 10, id: 1, content: "Build 7" },
        {
          type: 17,
          id: 2,
          accent_color: null,
          spoiler: false,
          components: [
            {
              type: 9,
              id: 3,
              components: [{ type: 10, id: 4, content: `failed for <@${ids.person}>` }],
              accessory: { type: 2, id: 5, style: 1, label: "Again", custom_id: "again" },
            },
          ],
        },
      ],
      mentions: [person],
    }),
    { text: "Build 7\n\nfailed for @张三", sender: { id: "6200", isBot: true, isSelf: false } },
  ),
  gatewayEvent("the bot's own message", "MESSAGE_CREATE", message("115", { ...inGuild, author: bot })),
  gatewayEvent(
    "a notice that somebody joined",
    "MESSAGE_CREATE",
    message("116", { ...inGuild, type: 7, content: "" }),
  ),
  gatewayEvent(
    "an edit",
    "MESSAGE_UPDATE",
    message("117", { ...inGuild, content: "hello again", edited_timestamp: at }),
    {
      type: "edited",
      messageId: "117",
      text: "hello again",
      timestamp: millis,
      eventId: `edited:117:${millis}`,
    },
  ),
  gatewayEvent("a preview of a link comes later", "MESSAGE_UPDATE", message("118", inGuild)),
  gatewayEvent(
    "a deletion",
    "MESSAGE_DELETE",
    { id: "119", channel_id: ids.channel, guild_id: ids.guild },
    { type: "deleted", messageId: "119", conversation: { id: ids.channel, kind: "channel" } },
  ),
  gatewayEvent(
    "deletions at once",
    "MESSAGE_DELETE_BULK",
    { ids: ["120", "121"], channel_id: ids.channel, guild_id: ids.guild },
    { type: "deleted", messageId: "120", eventId: "deleted:120" },
    { type: "deleted", messageId: "121", eventId: "deleted:121" },
  ),
  gatewayEvent(
    "a reaction",
    "MESSAGE_REACTION_ADD",
    {
      user_id: ids.person,
      message_id: "501",
      channel_id: ids.channel,
      guild_id: ids.guild,
      type: 0,
      emoji: { id: null, name: "👍" },
      member: { ...inGuild.member, user: person },
    },
    {
      type: "reaction",
      emoji: "👍",
      added: true,
      messageId: "501",
      sender: { id: ids.person, isBot: false },
    },
  ),
  gatewayEvent(
    "a reaction that is taken back, with an emoji of the server",
    "MESSAGE_REACTION_REMOVE",
    {
      user_id: ids.person,
      message_id: "501",
      channel_id: ids.channel,
      guild_id: ids.guild,
      type: 0,
      emoji: { id: "55", name: "wave" },
    },
    { type: "reaction", emoji: "wave:55", added: false },
  ),
  gatewayEvent(
    "a command",
    "INTERACTION_CREATE",
    {
      ...interaction,
      type: 2,
      data: { id: "1", type: 1, name: "model", options: [{ type: 3, name: "name", value: "opus 4" }] },
    },
    {
      type: "command",
      name: "model",
      args: "opus 4",
      eventId: `interaction:${interaction.id}`,
      address: `discord:${ids.channel}/${interaction.id}`,
      sender: { id: ids.person, roles: ["7101"], name: "张三" },
      conversation: { id: ids.channel, kind: "channel", guildId: ids.guild },
    },
  ),
  gatewayEvent(
    "a click on a button",
    "INTERACTION_CREATE",
    {
      ...interaction,
      type: 3,
      message: answer,
      data: { component_type: 2, custom_id: 'approve\n{"id":"A1B2","answer":"allow"}' },
    },
    {
      type: "action",
      actionId: "approve",
      value: { id: "A1B2", answer: "allow" },
      messageId: "501",
      address: `discord:${ids.channel}`,
    },
  ),
  gatewayEvent(
    "a message whose server cannot be read, which is no direct one for that",
    "MESSAGE_CREATE",
    message("122", { ...inGuild, guild_id: "no id" }),
  ),
  gatewayEvent("a form, which is not offered", "INTERACTION_CREATE", { ...interaction, type: 5, data: {} }),
  gatewayEvent("something that concerns no bot of ours", "PRESENCE_UPDATE", {
    user: { id: ids.person },
    status: "idle",
  }),
];
