import { type ActionEvent, objectAt, objectsAt, type Payload, type Sender, textAt } from "@signalbox/channel";
import { readActionId } from "../action-id.ts";
import { messageId } from "../address.ts";
import { readOption } from "../outbound/buttons.ts";
import { common, type Facts, type Read } from "./event-base.ts";
import { parsedValue, readForm } from "./forms.ts";

/** A click on a button, a choice of a menu, or what was written into a form. Shortcuts concern nobody here. */
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
  // A button of the app's own page, which is no conversation.
  if (channel === undefined) return "ignored";
  const message = objectAt(body, "message");
  const root = textAt(message, "thread_ts");
  const thread = root === ts ? undefined : root;
  const at = { event_ts: action["action_ts"] };
  const key = `action:${textAt(body, "trigger_id") ?? `${channel}:${ts}:${user}:${String(action["action_ts"])}`}`;
  return {
    ...common({ channel, thread, body, sender: person(user), key, at }, facts),
    type: "action",
    ...(ts === undefined ? {} : { messageId: messageId({ channel, ts }) }),
    ...(chosenIn(action) ?? clickedIn(action, actionId)),
  };
}

/** What was chosen in a menu. */
function chosenIn(action: Payload): ReturnType<typeof readOption> {
  const option = textAt(objectAt(action, "selected_option"), "value");
  return option === undefined ? undefined : readOption(option);
}

function clickedIn(action: Payload, actionId: string): Pick<ActionEvent, "actionId" | "value"> {
  const { id } = readActionId(actionId);
  const value = parsedValue(textAt(action, "value"));
  return value === undefined ? { actionId: id } : { actionId: id, value };
}

/** The answer to the button that had opened the form. */
function readSubmission(body: Payload, facts: Facts): Read {
  const form = readForm(body);
  const user = textAt(objectAt(body, "user"), "id");
  const viewId = textAt(objectAt(body, "view"), "id");
  if (form === undefined) return "ignored";
  if (user === undefined || viewId === undefined) return "malformed";
  const { channel, ts, thread, ...button } = form.askedBy;
  return {
    ...common({ channel, thread, body, sender: person(user), key: `form:${viewId}`, at: {} }, facts),
    type: "action",
    messageId: messageId({ channel, ts }),
    ...button,
    text: form.text,
  };
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
  const trigger = textAt(body, "trigger_id");
  const key = `command:${trigger ?? `${channel}:${user}:${facts.now}`}`;
  return {
    ...common({ channel, command: trigger, body, sender: person(user), key, at: {} }, facts),
    type: "command",
    name: isOwn ? first.replace(/^\//, "").toLowerCase() || "help" : command.replace(/^\/+/, ""),
    args: isOwn ? text.slice(first.length).trim() : text,
  };
}

function person(id: string): Sender {
  return { id, isBot: false, isSelf: false };
}
