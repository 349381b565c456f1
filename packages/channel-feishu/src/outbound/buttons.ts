import {
  type ButtonsPart,
  ChannelError,
  isPayload,
  type Json,
  type Payload,
  textAt,
  toJson,
} from "@signalbox/channel";
import { limits } from "../limits.ts";
import { clean } from "./clean.ts";

type Button = ButtonsPart["buttons"][number];
type Element = Readonly<Record<string, unknown>>;

/** Before the number of a form in the names of its parts, which hold for the whole card. */
const names = { form: "form_", field: "text_", button: "submit_" } as const;

/**
 * The elements under a question: its buttons, or a menu where they are many and none stands out among them. A button
 * that opens a form is that form, since a card holds forms itself. Sources: the pages of the open platform on the
 * button, the select menu, the input and the form container of cards of version 2.
 *
 * @throws ChannelError `too_large`
 */
export function renderButtons(buttons: ButtonsPart["buttons"]): readonly Element[] {
  if (buttons.length > limits.buttons)
    throw new ChannelError("too_large", `Feishu: a message holds at most ${limits.buttons} buttons`);
  const callbacks = new Map(buttons.map((button) => [button, callbackOf(button)]));
  const choices = buttons.filter(({ opensForm }) => opensForm !== true);
  const isMenu =
    choices.length > limits.buttonsAtOnce && choices.every(({ style = "default" }) => style === "default");
  const others = isMenu ? buttons.filter((button) => !choices.includes(button)) : buttons;
  const rendered = others.map((button, index) => {
    const callback = callbacks.get(button);
    return button.opensForm === true ? formOf(button, callback, index) : buttonOf(button, callback);
  });
  if (!isMenu) return rendered;
  return [
    menuOf(
      choices,
      choices.map((choice) => callbacks.get(choice)),
    ),
    ...rendered,
  ];
}

/** Comes back with a click. */
function callbackOf({ id, value }: Button): Json {
  if (Buffer.byteLength(JSON.stringify(value ?? null)) > limits.callbackBytes)
    throw new ChannelError(
      "too_large",
      `Feishu: a button's value holds at most ${limits.callbackBytes} bytes`,
    );
  return value === undefined ? { id } : { id, value };
}

function buttonOf({ label, style = "default" }: Button, callback: Json | undefined): Element {
  return {
    tag: "button",
    text: plainText(label),
    type: style,
    behaviors: [{ type: "callback", value: callback }],
  };
}

/** An option's own value is a text: what is behind it stands with the menu, in the same order. */
function menuOf(choices: readonly Button[], callbacks: readonly (Json | undefined)[]): Element {
  return {
    tag: "select_static",
    options: choices.map(({ label }, index) => ({ text: plainText(label), value: String(index) })),
    behaviors: [{ type: "callback", value: { options: callbacks } }],
  };
}

function formOf({ label }: Button, callback: Json | undefined, index: number): Element {
  return {
    tag: "form",
    name: `${names.form}${index}`,
    elements: [
      {
        tag: "input",
        name: `${names.field}${index}`,
        input_type: "multiline_text",
        max_length: limits.formTextLength,
        required: true,
      },
      {
        tag: "button",
        name: `${names.button}${index}`,
        text: plainText(label),
        type: "default",
        form_action_type: "submit",
        behaviors: [{ type: "callback", value: callback }],
      },
    ],
  };
}

function plainText(label: string): Element {
  return { tag: "plain_text", content: clean(label) };
}

/** What was written into a form; undefined where there is nothing. */
export function readText(formValue: Payload): string | undefined {
  const [field] = Object.keys(formValue).filter((name) => name.startsWith(names.field));
  const text = field === undefined ? undefined : textAt(formValue, field)?.trim();
  return text === "" ? undefined : text;
}

/** What was clicked or chosen, of what `renderButtons` put there; undefined for what it did not. */
export function readCallback(
  value: unknown,
  option: string | undefined,
): { readonly actionId: string; readonly value?: Json } | undefined {
  if (!isPayload(value)) return undefined;
  const { options } = value;
  const chosen: unknown = option !== undefined && Array.isArray(options) ? options[Number(option)] : value;
  if (!isPayload(chosen) || typeof chosen["id"] !== "string") return undefined;
  const behind = toJson(chosen["value"]);
  return behind === undefined ? { actionId: chosen["id"] } : { actionId: chosen["id"], value: behind };
}
