import {
  type Json,
  objectAt,
  objectsAt,
  type Payload,
  type Sender,
  textAt,
  toJson,
} from "@signalbox/channel";
import { readActionId } from "../action-id.ts";
import { messageId } from "../address.ts";
import { common, type Facts, type Read } from "./event-base.ts";

/** A click on a button. Shortcuts and forms concern nobody here. */
export function readInteraction(body: Payload, facts: Facts): Read {
  if (body["type"] !== "block_actions") return "ignored";
  const [action] = objectsAt(body, "actions");
  const container = objectAt(body, "container");
  const channel = textAt(container, "channel_id") ?? textAt(objectAt(body, "channel"), "id");
  const ts = textAt(container, "message_ts");
  const actionId = action === undefined ? undefined : textAt(action, "action_id");
  const user = textAt(objectAt(body, "user"), "id");
  if (action === undefined || actionId === undefined || user === undefined) return "malformed";
  // A button of the app's own page, which is no conversation.
  if (channel === undefined) return "ignored";
  const message = objectAt(body, "message");
  const root = textAt(message, "thread_ts");
  const thread = root === ts ? undefined : root;
  const at = { event_ts: action["action_ts"] };
  const key = `action:${textAt(body, "trigger_id") ?? `${channel}:${ts}:${user}:${String(action["action_ts"])}`}`;
  const value = givenValue(action);
  return {
    ...common({ channel, thread, body, sender: person(user), key, at }, facts),
    type: "action",
    actionId: readActionId(actionId),
    ...(ts === undefined ? {} : { messageId: messageId({ channel, ts }) }),
    ...(value === undefined ? {} : { value }),
  };
}

/** What the button was given, which is JSON where it is one of ours. */
function givenValue(action: Payload): Json | undefined {
  const written = textAt(action, "value");
  if (written === undefined) return undefined;
  try {
    return toJson(JSON.parse(written));
  } catch {
    return written;
  }
}

/** `/signalbox status now` is the command `status`; a command of another name is that command itself. */
export function readCommand(body: Payload, facts: Facts): Read {
  const channel = textAt(body, "channel_id");
  const user = textAt(body, "user_id");
  const command = textAt(body, "command");
  if (channel === undefined || user === undefined || command === undefined) return "malformed";
  const text = (textAt(body, "text") ?? "").trim();
  const [first = ""] = text.split(/\s/, 1);
  const isOwn = command === facts.command;
  const key = `command:${textAt(body, "trigger_id") ?? `${channel}:${user}:${facts.now}`}`;
  return {
    ...common({ channel, body, sender: person(user), key, at: {} }, facts),
    type: "command",
    name: isOwn ? first.replace(/^\//, "").toLowerCase() || "help" : command.replace(/^\/+/, ""),
    args: isOwn ? text.slice(first.length).trim() : text,
  };
}

function person(id: string): Sender {
  return { id, isBot: false, isSelf: false };
}
