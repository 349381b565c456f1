import { type ButtonsPart, ChannelError, type Json } from "@signalbox/channel";
import { limits } from "../limits.ts";

/** Source: Discord's page on components. */
const component = { row: 1, button: 2 } as const;
const styles = { primary: 1, default: 2, danger: 4 } as const;

/**
 * Rows of buttons.
 *
 * @throws ChannelError `too_large`
 */
export function renderButtons(buttons: ButtonsPart["buttons"]): readonly unknown[] {
  if (buttons.length > limits.buttons)
    throw new ChannelError("too_large", `Discord: a message holds at most ${limits.buttons} buttons`);
  const rendered = buttons.map(({ id, label, style = "default", value }) => ({
    type: component.button,
    style: styles[style],
    label: label.slice(0, limits.labelLength).toWellFormed(),
    custom_id: customId(id, value),
  }));
  const rows = Math.ceil(rendered.length / limits.buttonsOfRow);
  return Array.from({ length: rows }, (_, row) => ({
    type: component.row,
    components: rendered.slice(row * limits.buttonsOfRow, (row + 1) * limits.buttonsOfRow),
  }));
}

/** The button's own id and, behind a line break, its value as JSON. */
function customId(id: string, value: Json | undefined): string {
  const text = value === undefined ? id : `${id}\n${JSON.stringify(value)}`;
  if (text.length > limits.customIdLength)
    throw new ChannelError(
      "too_large",
      `Discord: a button's value holds at most ${limits.callbackBytes} bytes`,
    );
  return text;
}

/** What `renderButtons` put there. */
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
