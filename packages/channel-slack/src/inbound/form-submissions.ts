import {
  type Json,
  objectAt,
  objectsAt,
  type Payload,
  parsePayload,
  textAt,
  toJson,
} from "@signalbox/channel";
import { readActionId } from "../action-id.ts";
import { FORM_CALLBACK_ID, type Form, fieldIds } from "../outbound/forms.ts";

/** The button that opened a form. */
export interface AskedBy {
  readonly actionId: string;
  readonly value?: Json;
  readonly channel: string;
  readonly ts: string;
  readonly thread?: string;
}

/** Returns the form to open after a click and the trigger for it, or `undefined` if there is none. */
export function formToOpen(body: Payload): { readonly form: Form; readonly triggerId: string } | undefined {
  if (body["type"] !== "block_actions") return undefined;
  const [action = {}] = objectsAt(body, "actions");
  const { id, opensForm } = readActionId(textAt(action, "action_id") ?? "");
  const triggerId = textAt(body, "trigger_id");
  const container = objectAt(body, "container");
  const channel = textAt(container, "channel_id") ?? textAt(objectAt(body, "channel"), "id");
  const ts = textAt(container, "message_ts");
  if (!opensForm || triggerId === undefined || channel === undefined || ts === undefined) return undefined;
  const message = objectAt(body, "message");
  const thread = textAt(message, "thread_ts");
  const value = parsedValue(textAt(action, "value"));
  const askedBy: AskedBy = {
    actionId: id,
    channel,
    ts,
    value,
    thread: thread === undefined || thread === ts ? undefined : thread,
  };
  return {
    triggerId,
    form: {
      label: textAt(objectAt(action, "text"), "text") ?? "…",
      question: textAt(message, "text"),
      metadata: JSON.stringify(askedBy),
    },
  };
}

/** Reads the submission of one of our forms. Returns `undefined` for other forms and for empty input. */
export function readForm(body: Payload): { readonly askedBy: AskedBy; readonly text: string } | undefined {
  const view = objectAt(body, "view");
  if (body["type"] !== "view_submission" || view["callback_id"] !== FORM_CALLBACK_ID) return undefined;
  const askedBy = readAskedBy(textAt(view, "private_metadata") ?? "");
  const block = objectAt(objectAt(objectAt(view, "state"), "values"), fieldIds.block);
  const text = textAt(objectAt(block, fieldIds.action), "value")?.trim();
  return askedBy === undefined || text === undefined || text === "" ? undefined : { askedBy, text };
}

function readAskedBy(metadata: string): AskedBy | undefined {
  const written = parsePayload(metadata) ?? {};
  const [actionId, channel, ts] = ["actionId", "channel", "ts"].map((name) => textAt(written, name));
  if (actionId === undefined || channel === undefined || ts === undefined) return undefined;
  const thread = textAt(written, "thread");
  const value = toJson(written["value"]);
  return {
    actionId,
    channel,
    ts,
    value,
    thread,
  };
}

/** Parses the value of a button. Values from this channel are JSON. */
export function parsedValue(written: string | undefined): Json | undefined {
  if (written === undefined) return undefined;
  try {
    return toJson(JSON.parse(written));
  } catch {
    return written;
  }
}
