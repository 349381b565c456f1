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

/** Prefixes of element names in forms. Names are unique per card. */
const names = { form: "form_", field: "text_", button: "submit_" } as const;

/**
 * Renders the elements below a question: buttons, or a menu if there are many equal buttons. A button that opens a form
 * becomes that form, because cards can contain forms. Sources: the open platform's pages on the button, select menu,
 * input and form container of version 2 cards.
 *
 * @throws ChannelError `too_large`
 */
export function renderButtons(buttons: ButtonsPart["buttons"]): readonly Element[] {
  if (buttons.length > limits.buttons)
    throw new ChannelError("too_large", `Feishu: a message can have at most ${limits.buttons} buttons`);
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

/** Creates the value that a click returns. */
function callbackOf({ id, value }: Button): Json {
  if (Buffer.byteLength(JSON.stringify(value ?? null)) > limits.callbackBytes)
    throw new ChannelError(
      "too_large",
      `Feishu: a button's value can have at most ${limits.callbackBytes} bytes`,
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

/** The value of an option must be a string, so the menu contains the callbacks in the order of its options. */
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

/** Returns the text entered in a form, or `undefined` if nothing was entered. */
export function readText(formValue: Payload): string | undefined {
  const [field] = Object.keys(formValue).filter((name) => name.startsWith(names.field));
  const text = field === undefined ? undefined : textAt(formValue, field)?.trim();
  return text === "" ? undefined : text;
}

/** Returns the clicked button or selected option, or `undefined` if `renderButtons` did not create it. */
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
