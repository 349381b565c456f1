import { type ButtonsPart, ChannelError, fitLabel, type Json } from "@signalbox/channel";
import { limits } from "../limits.ts";

type Button = ButtonsPart["buttons"][number];

/** Source: "Component Reference". */
const component = { row: 1, button: 2, menu: 3 } as const;
const styles = { primary: 1, default: 2, danger: 4 } as const;

/** Prefix of the custom id of a button that opens a form. */
const opensForm = "?";

/**
 * Renders buttons in rows. Buttons that need more than one row become a menu, unless they have different styles.
 *
 * @throws ChannelError `too_large`
 */
export function renderButtons(buttons: ButtonsPart["buttons"]): readonly unknown[] {
  if (buttons.length > limits.buttons)
    throw new ChannelError("too_large", `Discord: a message can have at most ${limits.buttons} buttons`);
  const choices = buttons.filter((button) => button.opensForm !== true);
  const isMenu =
    choices.length > limits.buttonsOfRow && choices.every(({ style = "default" }) => style === "default");
  return isMenu
    ? [renderMenu(choices), ...renderRows(buttons.filter((button) => !choices.includes(button)))]
    : renderRows(buttons);
}

function renderRows(buttons: readonly Button[]): readonly unknown[] {
  const rendered = buttons.map((button) => ({
    type: component.button,
    style: styles[button.style ?? "default"],
    label: fitLabel(button.label, limits.labelLength),
    custom_id: writeCustomId(button),
  }));
  const rows = Math.ceil(rendered.length / limits.buttonsOfRow);
  return Array.from({ length: rows }, (_, row) => ({
    type: component.row,
    components: rendered.slice(row * limits.buttonsOfRow, (row + 1) * limits.buttonsOfRow),
  }));
}

/** A selected option is reported like a click on its button. */
function renderMenu(buttons: readonly Button[]): unknown {
  const options = buttons.map((button) => ({
    label: fitLabel(button.label, limits.optionLength),
    value: writeCustomId(button),
  }));
  return { type: component.row, components: [{ type: component.menu, custom_id: "menu", options }] };
}

/** Creates the custom id: the button's id and, after a line break, its value as JSON. */
function writeCustomId({ id, value, opensForm: isForm = false }: Button): string {
  const written = value === undefined ? undefined : JSON.stringify(value);
  const content = written === undefined ? id : `${id}\n${written}`;
  const text = isForm ? `${opensForm}${content}` : content;
  if (text.length > limits.customIdLength || Buffer.byteLength(written ?? "") > limits.callbackBytes)
    throw new ChannelError(
      "too_large",
      `Discord: a button's value can have at most ${limits.callbackBytes} bytes`,
    );
  return text;
}

/** Returns the custom id of the form that a button opens, or `undefined` if it opens none. */
export function getFormId(customIdOfButton: string): string | undefined {
  return customIdOfButton.startsWith(opensForm) ? customIdOfButton.slice(opensForm.length) : undefined;
}

/** Parses a custom id created by `renderButtons`. */
export function readCustomId(text: string): { readonly actionId: string; readonly value?: Json } {
  const end = text.indexOf("\n");
  if (end < 0) return { actionId: text };
  const actionId = text.slice(0, end);
  try {
    const value: Json = JSON.parse(text.slice(end + 1));
    return { actionId, value };
  } catch {
    return { actionId };
  }
}
