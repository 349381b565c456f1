import {
  type ChannelCache,
  isPayload,
  objectAt,
  objectsAt,
  type Payload,
  type Reference,
  textAt,
  toJson,
} from "@signalbox/channel";
import { idAt } from "../address.ts";
import { limits } from "../limits.ts";
import { getFormId } from "../outbound/buttons.ts";
import type { Form } from "../outbound/forms.ts";
import { readEarlierMessage } from "./content.ts";
import type { InteractionHead } from "./interaction-head.ts";
import type { OwnIds } from "./mentions.ts";

/** Prefix of the custom id of a form about a message. The message id follows it. */
const asksAbout = "@";

/** Texts of forms in the language of the user's client. */
const words = {
  en: { answer: "Your answer", question: "Your question" },
  zh: { answer: "你的回答", question: "你的问题" },
} as const;

/** Returns the form to open after a click or a message command, or `undefined` if there is none. */
export function formToOpen(payload: Payload, { kind }: InteractionHead): Form | undefined {
  const data = objectAt(payload, "data");
  const { answer, question } = textAt(payload, "locale")?.startsWith("zh") === true ? words.zh : words.en;
  if (kind === "message-command") {
    const target = idAt(data, "target_id");
    const title = textAt(data, "name") ?? question;
    return target === undefined ? undefined : { customId: `${asksAbout}${target}`, title, label: question };
  }
  const clicked = kind === "component" ? textAt(data, "custom_id") : undefined;
  const customId = clicked === undefined ? undefined : getFormId(clicked);
  if (clicked === undefined || customId === undefined) return undefined;
  const message = objectAt(payload, "message");
  const description = textAt(message, "content");
  return {
    customId,
    title: findLabel(message, clicked) ?? answer,
    label: answer,
    description,
  };
}

function findLabel(message: Payload, customId: string): string | undefined {
  const buttons = objectsAt(message, "components").flatMap((row) => objectsAt(row, "components"));
  const clicked = buttons.find((button) => textAt(button, "custom_id") === customId);
  return clicked === undefined ? undefined : textAt(clicked, "label");
}

/** Returns the submitted text, or `undefined` if it is empty or unreadable. */
export function readFormText(data: Payload): string | undefined {
  const [field] = objectsAt(data, "components").map((label) => objectAt(label, "component"));
  const text = field === undefined ? undefined : textAt(field, "value")?.trim();
  return text === "" ? undefined : text;
}

/** Returns the id of the message that a form refers to, or `undefined` if it refers to none. */
export function parseAskedAbout(customId: string): string | undefined {
  return customId.startsWith(asksAbout) ? customId.slice(asksAbout.length) : undefined;
}

const keyOf = (messageId: string): string => `asked-about/${messageId}`;

/** Stores the message on which a command was used. The submission of the form contains only its id. */
export async function storeAskedAbout(cache: ChannelCache, payload: Payload): Promise<void> {
  const data = objectAt(payload, "data");
  const messageId = idAt(data, "target_id");
  if (messageId === undefined) return;
  const message = objectAt(objectAt(objectAt(data, "resolved"), "messages"), messageId);
  await cache.set(keyOf(messageId), toJson(message) ?? null, limits.interactionMs);
}

/** Returns the message that a question refers to. */
export async function readAskedAbout(
  cache: ChannelCache,
  messageId: string,
  own: OwnIds,
): Promise<Reference> {
  const kept = await cache.get(keyOf(messageId));
  return isPayload(kept) ? { ...readEarlierMessage(kept, own), messageId } : { kind: "reply", messageId };
}
