import { type ButtonsPart, ChannelError, fitLabel, type Json, toJson } from "@signalbox/channel";
import { limits } from "../limits.ts";

type Button = ButtonsPart["buttons"][number];

/** Label of the button that opens a list. A symbol, because the language of the conversation is unknown. */
const OPEN_LIST = "☰";

/**
 * Returns the `interactive` object of a question: reply buttons, or a list if there are more than three choices or a
 * label is too long for a button.
 *
 * @throws ChannelError `too_large`
 */
export function renderQuestion(
  text: string,
  buttons: ButtonsPart["buttons"],
): Readonly<Record<string, unknown>> {
  if (buttons.length > limits.rows)
    throw new ChannelError("too_large", `WhatsApp: a message can have at most ${limits.rows} buttons`);
  const body = { text };
  const isList =
    buttons.length > limits.replyButtons || buttons.some(({ label }) => label.length > limits.titleLength);
  if (!isList) {
    const titles = createTitles(buttons, limits.titleLength);
    const replies = buttons.map((button, index) => ({
      type: "reply",
      reply: { id: writeId(button), title: titles[index] },
    }));
    return { type: "button", body, action: { buttons: replies } };
  }
  const titles = createTitles(buttons, limits.rowTitleLength);
  const rows = buttons.map((button, index) => ({
    id: writeId(button),
    title: titles[index],
    description:
      button.label.length > limits.rowTitleLength
        ? fitLabel(button.label, limits.rowDescriptionLength)
        : undefined,
  }));
  return { type: "list", body, action: { button: OPEN_LIST, sections: [{ rows }] } };
}

/** Returns different titles, because WhatsApp rejects equal ones. */
function createTitles(buttons: readonly Button[], max: number): readonly string[] {
  const titles: string[] = [];
  for (const { label } of buttons) {
    let title = fitLabel(label, max);
    for (let number = 2; titles.includes(title); number += 1) {
      const suffix = ` (${number})`;
      title = fitLabel(label, max - suffix.length) + suffix;
    }
    titles.push(title);
  }
  return titles;
}

/** Writes the id and value of a button as JSON. */
function writeId({ id, value }: Button): string {
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? "");
  const written = JSON.stringify(value === undefined ? [id] : [id, value]);
  if (bytes > limits.callbackBytes || written.length > limits.rowIdLength)
    throw new ChannelError(
      "too_large",
      `WhatsApp: a button's value can have at most ${limits.callbackBytes} bytes`,
    );
  return written;
}

/** Parses an id that `writeId` created. Returns `undefined` for any other text, for instance of a template's button. */
export function readId(written: string): { readonly actionId: string; readonly value?: Json } | undefined {
  try {
    const parsed: unknown = JSON.parse(written);
    if (!Array.isArray(parsed) || typeof parsed[0] !== "string" || parsed[0] === "") return undefined;
    const value = toJson(parsed[1]);
    return value === undefined ? { actionId: parsed[0] } : { actionId: parsed[0], value };
  } catch {
    return undefined;
  }
}
