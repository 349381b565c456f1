import { isRaw, type Raw } from "../raw.ts";
import { type ApiReply, refusals } from "./reply.ts";

/** Source: Discord's pages on components and on the flag for messages that consist of components. */
const limits = {
  rows: 5,
  buttonsOfRow: 5,
  customId: 100,
  options: 25,
  option: 100,
  label: 80,
  components: 40,
  text: 4_000,
};

export const componentType = { row: 1, button: 2, menu: 3, textInput: 4, text: 10, label: 18 } as const;

/** Flag of a message that consists only of components. */
export const componentsV2: number = 1 << 15;

interface WithComponents {
  readonly components: unknown;
}

export function hasComponentsV2(flags: unknown): boolean {
  return (Number(flags) & componentsV2) !== 0;
}

/** Returns the text that is visible to readers of the message. */
export function wordsIn({ content, components }: WithComponents & { readonly content: string }): string {
  const texts = (Array.isArray(components) ? components.filter(isRaw) : []).flatMap((one) =>
    one["type"] === componentType.text ? String(one["content"]) : [],
  );
  return [...(content === "" ? [] : [content]), ...texts].join("\n");
}

/** Returns the options in a message's menus. */
export function optionsOf({
  components,
}: WithComponents): { readonly label: string; readonly value: string; readonly customId: string }[] {
  return inRows(components).flatMap(({ options, custom_id: customId }) =>
    (Array.isArray(options) ? options.filter(isRaw) : []).map(({ label, value }) => ({
      label: String(label),
      value: String(value),
      customId: String(customId),
    })),
  );
}

/** Returns a message's buttons. */
export function buttonsOf({
  components,
}: WithComponents): { readonly label: string; readonly customId: string }[] {
  return inRows(components)
    .filter(({ type }) => type === componentType.button)
    .map(({ label, custom_id: customId }) => ({ label: String(label), customId: String(customId) }));
}

function inRows(components: unknown): readonly Raw[] {
  const rows = Array.isArray(components) ? components.filter(isRaw) : [];
  return rows.flatMap(({ components: inRow }) => (Array.isArray(inRow) ? inRow.filter(isRaw) : []));
}

/** Supports rows of buttons, a row with one menu, and, in messages of components, texts above them. */
export function checkComponents(
  components: unknown,
  { isV2 }: { readonly isV2: boolean },
): ApiReply | undefined {
  if (components === undefined || components === null) return undefined;
  const wrong = (why: string) => refusals.invalidForm("components", why);
  const most = isV2 ? limits.components : limits.rows;
  if (!Array.isArray(components) || components.length > most)
    return wrong(`Must be ${most} or fewer in length.`);
  const texts = isV2 ? components.filter((one) => isRaw(one) && one["type"] === componentType.text) : [];
  if (!texts.every((one) => isText(one["content"], limits.text)))
    return wrong("Must be between 1 and 4000 in length.");
  if (texts.reduce((sum, one) => sum + [...one["content"]].length, 0) > limits.text)
    return wrong("The total displayable text exceeds 4000 characters.");
  return checkRows(components.filter((one) => !texts.includes(one)));
}

function checkRows(rows: readonly unknown[]): ApiReply | undefined {
  const wrong = (why: string) => refusals.invalidForm("components", why);
  const ids = new Set<unknown>();
  for (const row of rows) {
    const inRow = isRaw(row) && row["type"] === componentType.row ? row["components"] : undefined;
    if (!Array.isArray(inRow) || inRow.length === 0 || inRow.length > limits.buttonsOfRow)
      return wrong("Must be between 1 and 5 in length.");
    for (const component of inRow) {
      const isMenu = isRaw(component) && component["type"] === componentType.menu;
      const refused = isMenu ? checkMenu(component, inRow.length) : checkButton(component);
      if (refused !== undefined) return wrong(refused);
      ids.add(isRaw(component) ? component["custom_id"] : undefined);
    }
  }
  const count = rows.flatMap((row) => (isRaw(row) ? row["components"] : [])).length;
  return ids.size < count ? wrong("Component custom id cannot be duplicated") : undefined;
}

function checkMenu({ custom_id: customId, options }: Raw, inRow: number): string | undefined {
  if (inRow > 1) return "A select menu takes up a whole row.";
  if (!isText(customId, limits.customId)) return "Must be between 1 and 100 in length.";
  if (!Array.isArray(options) || options.length === 0 || options.length > limits.options)
    return "Must be between 1 and 25 in length.";
  const values = options.filter(isRaw).map(({ value }) => value);
  if (new Set(values).size < options.length) return "The specified option value is already used.";
  const isRight = options.every(
    (option) =>
      isRaw(option) && isText(option["label"], limits.option) && isText(option["value"], limits.option),
  );
  return isRight ? undefined : "Must be between 1 and 100 in length.";
}

function checkButton(button: unknown): string | undefined {
  if (!isRaw(button) || button["type"] !== componentType.button) return "Value of field type must be 2.";
  const { style, label, custom_id: customId } = button;
  if (typeof style !== "number" || style < 1 || style > 4)
    return "Value of field style must be one of 1, 2, 3, 4.";
  if (typeof label !== "string" || label === "" || [...label].length > limits.label)
    return "Must be 80 or fewer in length.";
  if (typeof customId !== "string" || customId === "" || customId.length > limits.customId)
    return "Must be between 1 and 100 in length.";
  return undefined;
}

export function isText(value: unknown, most: number): value is string {
  return typeof value === "string" && value !== "" && [...value].length <= most;
}
