import { type ButtonsPart, ChannelError, fitLabel, type Json } from "@signalbox/channel";
import { writeActionId } from "../action-id.ts";
import { limits } from "../limits.ts";

type Button = ButtonsPart["buttons"][number];
type Element = Readonly<Record<string, unknown>>;

/** Action id of a menu. The selected option identifies the button. */
const MENU_ACTION_ID = "menu";

/**
 * Renders the choices of a question: as a menu if there are many equal ones whose values fit into options, otherwise as
 * buttons.
 *
 * @throws ChannelError `too_large`
 */
export function renderButtons(buttons: ButtonsPart["buttons"]): readonly Element[] {
  if (buttons.length > limits.buttons)
    throw new ChannelError("too_large", `Slack: a message can have at most ${limits.buttons} buttons`);
  const choices = buttons.filter(({ opensForm }) => opensForm !== true);
  if (!isMenu(choices)) return buttons.map(renderButton);
  const others = buttons.filter((button) => !choices.includes(button));
  const options = choices.map((choice) => ({
    text: plainText(choice.label, limits.labelLength),
    value: optionValue(choice),
  }));
  return [{ type: "static_select", action_id: MENU_ACTION_ID, options }, ...others.map(renderButton)];
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
      `Slack: a button's value can have at most ${limits.callbackBytes} bytes`,
    );
  return {
    type: "button",
    action_id: actionId,
    text: plainText(label, limits.labelLength),
    style: style === "default" ? undefined : style,
    value: written,
  };
}

/** An option has only a value, so the value contains both the id and the value of the button. */
function optionValue({ id, value }: Button): string {
  return JSON.stringify(value === undefined ? [id] : [id, value]);
}

/** Parses an option value created by `optionValue`. Returns `undefined` for any other text. */
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

/** Creates a label and truncates it to the maximum length. */
export function plainText(text: string, max: number): Element {
  return { type: "plain_text", text: fitLabel(text, max) };
}
