import { type ActionEvent, objectAt, objectsAt, type Payload, type Sender, textAt } from "@signalbox/channel";
import { readActionId } from "../action-id.ts";
import { messageId } from "../address.ts";
import { readOption } from "../outbound/buttons.ts";
import { createBase, type Facts, type Read } from "./event-base.ts";
import { parsedValue, readForm } from "./form-submissions.ts";

/** Reads a click, a menu selection or a form submission. Ignores shortcuts. */
export function readInteraction(body: Payload, facts: Facts): Read {
  switch (body["type"]) {
    case "block_actions":
      return readClick(body, facts);
    case "view_submission":
      return readSubmission(body, facts);
    default:
      return "ignored";
  }
}

function readClick(body: Payload, facts: Facts): Read {
  const [action] = objectsAt(body, "actions");
  const container = objectAt(body, "container");
  const channel = textAt(container, "channel_id") ?? textAt(objectAt(body, "channel"), "id");
  const ts = textAt(container, "message_ts");
  const actionId = action === undefined ? undefined : textAt(action, "action_id");
  const user = textAt(objectAt(body, "user"), "id");
  if (action === undefined || actionId === undefined || user === undefined) return "malformed";
  // The button is on the app's home tab.
  if (channel === undefined) return "ignored";
  const message = objectAt(body, "message");
  const root = textAt(message, "thread_ts");
  const thread = root === ts ? undefined : root;
  const at = { event_ts: action["action_ts"] };
  const key = `action:${textAt(body, "trigger_id") ?? `${channel}:${ts}:${user}:${String(action["action_ts"])}`}`;
  return {
    ...createBase({ channel, thread, body, sender: createSender(user), key, at }, facts),
    type: "action",
    messageId: ts === undefined ? undefined : messageId({ channel, ts }),
    ...(readChosenOption(action) ?? readClickedButton(action, actionId)),
  };
}

/** Reads the selected option of a menu. */
function readChosenOption(action: Payload): ReturnType<typeof readOption> {
  const option = textAt(objectAt(action, "selected_option"), "value");
  return option === undefined ? undefined : readOption(option);
}

function readClickedButton(action: Payload, actionId: string): Pick<ActionEvent, "actionId" | "value"> {
  const { id } = readActionId(actionId);
  const value = parsedValue(textAt(action, "value"));
  return value === undefined ? { actionId: id } : { actionId: id, value };
}

/** Reads the submission of a form that a button opened. */
function readSubmission(body: Payload, facts: Facts): Read {
  const form = readForm(body);
  const user = textAt(objectAt(body, "user"), "id");
  const viewId = textAt(objectAt(body, "view"), "id");
  if (form === undefined) return "ignored";
  if (user === undefined || viewId === undefined) return "malformed";
  const { channel, ts, thread, ...button } = form.askedBy;
  return {
    ...createBase(
      { channel, thread, body, sender: createSender(user), key: `form:${viewId}`, at: {} },
      facts,
    ),
    type: "action",
    messageId: messageId({ channel, ts }),
    ...button,
    text: form.text,
  };
}

/** `/signalbox status now` becomes the command `status`. A command with another name stays unchanged. */
export function readCommand(body: Payload, facts: Facts): Read {
  const channel = textAt(body, "channel_id");
  const user = textAt(body, "user_id");
  const command = textAt(body, "command");
  if (channel === undefined || user === undefined || command === undefined) return "malformed";
  const text = (textAt(body, "text") ?? "").trim();
  const [first = ""] = text.split(/\s/, 1);
  const isOwnMessage = command === facts.command;
  const trigger = textAt(body, "trigger_id");
  const key = `command:${trigger ?? `${channel}:${user}:${facts.now}`}`;
  return {
    ...createBase({ channel, command: trigger, body, sender: createSender(user), key, at: {} }, facts),
    type: "command",
    name: isOwnMessage ? first.replace(/^\//, "").toLowerCase() || "help" : command.replace(/^\/+/, ""),
    args: isOwnMessage ? text.slice(first.length).trim() : text,
  };
}

function createSender(id: string): Sender {
  return { id, isBot: false, isSelf: false };
}
