import { isRaw, type Raw } from "../raw.ts";
import { objectsOf } from "./reply.ts";
import type { SlackView } from "./views.ts";

/** A delivery from Slack to an app: an event, an interaction such as a click, or a slash command. */
export interface SlackDelivery {
  readonly type: "events_api" | "interactive" | "slash_commands";
  readonly body: Raw;
}

export interface EventOptions {
  /** Default: a new generated id. */
  readonly eventId?: string;
  /** Milliseconds since the epoch. Default: now. */
  readonly at?: number;
  /** The workspace. Default: `T_TEAM`. */
  readonly teamId?: string;
  readonly enterpriseId?: string;
}

export interface MessageOptions extends EventOptions {
  readonly ts?: string;
  /** Default `D_DIRECT`, or `C_GENERAL` for a channel. */
  readonly channel?: string;
  readonly channelType?: "im" | "mpim" | "channel" | "group";
  /** Default `U_SENDER`. */
  readonly user?: string;
  readonly botId?: string;
  readonly subtype?: string;
  readonly threadTs?: string;
  /** Author of the thread's first message. */
  readonly parentUser?: string;
  readonly clientMsgId?: string;
  readonly blocks?: readonly Raw[];
  readonly files?: readonly Raw[];
}

let count = 0;

function unique(prefix: string): string {
  count += 1;
  return `${prefix}${process.pid.toString(36).toUpperCase()}${count.toString(36).toUpperCase()}`;
}

function tsAt(at: number): string {
  count += 1;
  return `${Math.floor(at / 1000)}.${String(count).padStart(6, "0")}`;
}

/** Returns any event in the envelope of the Events API. */
export function eventCallback(event: Raw, options: EventOptions = {}): SlackDelivery {
  const { eventId = unique("Ev"), at = Date.now(), teamId = "T_TEAM", enterpriseId } = options;
  return {
    type: "events_api",
    body: {
      token: "legacy-token",
      team_id: teamId,
      enterprise_id: enterpriseId,
      context_team_id: teamId,
      api_app_id: "A_APP",
      type: "event_callback",
      event_id: eventId,
      event_time: Math.floor(at / 1000),
      authorizations: [
        { team_id: teamId, enterprise_id: enterpriseId ?? null, user_id: "U_BOT", is_bot: true },
      ],
      event,
    },
  };
}

/** Returns a `message` event, by default in a direct conversation. */
export function textMessage(text: string, options: MessageOptions = {}): SlackDelivery {
  return eventCallback(messageOf(text, options), options);
}

function messageOf(text: string, options: MessageOptions): Raw {
  const { channelType = "im", at = Date.now(), clientMsgId = unique("client-"), threadTs } = options;
  const { user = "U_SENDER", botId, subtype, parentUser, blocks, files, teamId = "T_TEAM" } = options;
  const ts = options.ts ?? tsAt(at);
  return {
    type: "message",
    subtype,
    user,
    text,
    ts,
    event_ts: ts,
    team: teamId,
    channel: options.channel ?? (channelType === "im" ? "D_DIRECT" : "C_GENERAL"),
    channel_type: channelType,
    ...(botId === undefined ? { client_msg_id: clientMsgId } : { bot_id: botId }),
    thread_ts: threadTs,
    parent_user_id: parentUser,
    blocks,
    ...(files === undefined ? {} : { files, ...(subtype === undefined ? { subtype: "file_share" } : {}) }),
  };
}

/** Returns the `message` event for `<@bot> text` in a channel. */
export function channelMention(text: string, bot: string, options: MessageOptions = {}): SlackDelivery {
  return textMessage(`<@${bot}> ${text}`, { channelType: "channel", ...options });
}

/** Returns the second event that Slack sends for the same mention. */
export function appMention(delivery: SlackDelivery, eventId?: string): SlackDelivery {
  const { event, ...body } = delivery.body;
  const { channel_type: _type, ...message } = Object.fromEntries(Object.entries(event ?? {}));
  return {
    type: "events_api",
    body: { ...body, event_id: eventId ?? unique("Ev"), event: { ...message, type: "app_mention" } },
  };
}

/** Returns the event for a message that its sender edits. */
export function changed(
  text: string,
  before: string,
  options: MessageOptions & { readonly ts: string },
): SlackDelivery {
  const { channelType = "im", at = Date.now() } = options;
  const { channel, channel_type: _type, ...message } = messageOf(text, options);
  const event = {
    type: "message",
    subtype: "message_changed",
    channel,
    channel_type: channelType,
    hidden: true,
    ts: tsAt(at),
    event_ts: tsAt(at),
    message: { ...message, edited: { user: message["user"], ts: tsAt(at) } },
    previous_message: { ...message, text: before },
  };
  return eventCallback(event, options);
}

/** Returns the event for a message that its sender deletes. */
export function deleted(ts: string, options: MessageOptions = {}): SlackDelivery {
  const { channelType = "im", at = Date.now(), channel = "D_DIRECT", user = "U_SENDER" } = options;
  const event = {
    type: "message",
    subtype: "message_deleted",
    channel,
    channel_type: channelType,
    hidden: true,
    deleted_ts: ts,
    ts: tsAt(at),
    event_ts: tsAt(at),
    previous_message: { type: "message", user, text: "gone", ts },
  };
  return eventCallback(event, options);
}

export function reaction(
  ts: string,
  name: string,
  options: MessageOptions & { readonly isRemoved?: boolean } = {},
): SlackDelivery {
  const { at = Date.now(), channel = "D_DIRECT", user = "U_SENDER", isRemoved = false } = options;
  const event = {
    type: isRemoved ? "reaction_removed" : "reaction_added",
    user,
    reaction: name,
    item_user: "U_BOT",
    event_ts: tsAt(at),
    item: { type: "message", channel, ts },
  };
  return eventCallback(event, options);
}

/** Returns a click on a button of a message. */
export function buttonClick(
  ts: string,
  action: { readonly id: string; readonly value?: string; readonly label?: string },
  options: MessageOptions = {},
): SlackDelivery {
  const { at = Date.now(), channel = "D_DIRECT", user = "U_SENDER", teamId = "T_TEAM", threadTs } = options;
  return {
    type: "interactive",
    body: {
      type: "block_actions",
      team: { id: teamId, domain: "team" },
      user: { id: user, username: "sender", team_id: teamId },
      api_app_id: "A_APP",
      trigger_id: unique("trigger."),
      container: { type: "message", message_ts: ts, channel_id: channel, is_ephemeral: false },
      channel: { id: channel, name: channel.startsWith("D") ? "directmessage" : "general" },
      message: { type: "message", ts, thread_ts: threadTs },
      response_url: "https://hooks.slack.invalid/actions/T_TEAM/1/a",
      actions: [
        {
          type: "button",
          block_id: "b",
          action_id: action.id,
          action_ts: tsAt(at),
          text: action.label === undefined ? undefined : { type: "plain_text", text: action.label },
          value: action.value,
        },
      ],
    },
  };
}

/** Returns a selection in a menu of a message. */
export function menuChoice(
  ts: string,
  menu: { readonly id: string; readonly value: string },
  options: MessageOptions = {},
): SlackDelivery {
  const { type, body } = buttonClick(ts, { id: menu.id }, options);
  const [action] = objectsOf(body["actions"]);
  const chosen = { type: "static_select", selected_option: { value: menu.value } };
  return { type, body: { ...body, actions: [{ ...action, ...chosen }] } };
}

/** Returns the submission of a form with its first field filled in. */
export function formSubmission(
  { id, view }: SlackView,
  text: string,
  options: Pick<MessageOptions, "user" | "teamId"> = {},
): SlackDelivery {
  const { user = "U_SENDER", teamId = "T_TEAM" } = options;
  const [field = {}] = objectsOf(view["blocks"]).filter(({ type }) => type === "input");
  const element = isRaw(field["element"]) ? field["element"] : {};
  const written = { [String(element["action_id"])]: { type: element["type"], value: text } };
  return {
    type: "interactive",
    body: {
      type: "view_submission",
      team: { id: teamId, domain: "team" },
      user: { id: user, username: "sender", team_id: teamId },
      api_app_id: "A_APP",
      trigger_id: unique("trigger."),
      view: { ...view, id, state: { values: { [String(field["block_id"])]: written } } },
      response_urls: [],
    },
  };
}

export function slashCommand(command: string, text: string, options: MessageOptions = {}): SlackDelivery {
  const { channel = "D_DIRECT", user = "U_SENDER", teamId = "T_TEAM" } = options;
  return {
    type: "slash_commands",
    body: {
      token: "legacy-token",
      team_id: teamId,
      team_domain: "team",
      api_app_id: "A_APP",
      channel_id: channel,
      channel_name: channel.startsWith("D") ? "directmessage" : "general",
      user_id: user,
      user_name: "sender",
      command,
      text,
      trigger_id: unique("trigger."),
      response_url: "https://hooks.slack.invalid/commands/T_TEAM/1/a",
    },
  };
}
