import { type ButtonsPart, ChannelError, fitLabel, type Json } from "@signalbox/channel";
import { writeActionId } from "../action-id.ts";
import { limits } from "../limits.ts";

type Button = ButtonsPart["buttons"][number];
type Element = Readonly<Record<string, unknown>>;

/** The id of a menu; what was chosen says the rest. */
const menuId = "menu";

/**
 * The elements under a question: its buttons, or a menu where they are many, none stands out among them, and an option
 * can hold what is behind each.
 *
 * @throws ChannelError `too_large`
 */
export function renderButtons(buttons: ButtonsPart["buttons"]): readonly Element[] {
  if (buttons.length > limits.buttons)
    throw new ChannelError("too_large", `Slack: a message holds at most ${limits.buttons} buttons`);
  const choices = buttons.filter(({ opensForm }) => opensForm !== true);
  if (!isMenu(choices)) return buttons.map(renderButton);
  const others = buttons.filter((button) => !choices.includes(button));
  const options = choices.map((choice) => ({
    text: plainText(choice.label, limits.labelLength),
    value: optionValue(choice),
  }));
  return [{ type: "static_select", action_id: menuId, options }, ...others.map(renderButton)];
}

function isMenu(choices: readonly Button[]): boolean {
  return (
    choices.length > limits.buttonsAtOnce &&
    choices.every(
      (choice) =>
        (choice.style ?? "default") === "default" && optionValue(choice).length <= limits.optionLength,
    )
  );
}

function renderButton(
  { id, label, style = "default", value, opensForm = false }: Button,
  index: number,
): Element {
  const actionId = writeActionId({ id, opensForm }, index);
  const written = value === undefined ? undefined : JSON.stringify(value);
  if (actionId.length > limits.actionIdLength || Buffer.byteLength(written ?? "") > limits.callbackBytes)
    throw new ChannelError(
      "too_large",
      `Slack: a button's value holds at most ${limits.callbackBytes} bytes`,
    );
  return {
    type: "button",
    action_id: actionId,
    text: plainText(label, limits.labelLength),
    ...(style === "default" ? {} : { style }),
    ...(written === undefined ? {} : { value: written }),
  };
}

/** An option has no id of its own: both stand in its value. */
function optionValue({ id, value }: Button): string {
  return JSON.stringify(value === undefined ? [id] : [id, value]);
}

/** What `optionValue` wrote; undefined for what it did not. */
export function readOption(
  written: string,
): { readonly actionId: string; readonly value?: Json } | undefined {
  try {
    const [actionId, value]: [unknown, Json?] = JSON.parse(written);
    if (typeof actionId !== "string") return undefined;
    return value === undefined ? { actionId } : { actionId, value };
  } catch {
    return undefined;
  }
}

/** Words of a button or of a form, as much of them as Slack takes. */
export function plainText(text: string, max: number): Element {
  return { type: "plain_text", text: fitLabel(text, max) };
}
