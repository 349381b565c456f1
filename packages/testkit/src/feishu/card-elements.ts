import { isRaw, type Raw } from "../raw.ts";

/**
 * Returns the error in the elements of a card, if any. Sources: the open platform's pages on the button, the select
 * menu, the input (at most 1,000 characters) and the form container of cards.
 */
export function wrongElement(elements: readonly unknown[], isInForm = false): string | undefined {
  const wrong = elements.map((element) => wrongIn(element, isInForm)).find((one) => one !== undefined);
  return wrong ?? (hasTwice(elements.flatMap(namesIn)) ? "two elements have one name" : undefined);
}

function wrongIn(element: unknown, isInForm: boolean): string | undefined {
  if (!isRaw(element) || typeof element["tag"] !== "string") return "element without tag";
  switch (element["tag"]) {
    case "button":
      return wrongButton(element, isInForm);
    case "select_static":
      return wrongMenu(element);
    case "input":
      return wrongInput(element, isInForm);
    case "form":
      return wrongForm(element, isInForm);
    default:
      return undefined;
  }
}

function wrongButton(
  { text, name, form_action_type: formAction }: Raw,
  isInForm: boolean,
): string | undefined {
  if (!isPlainText(text)) return "a button without a text";
  if (formAction === undefined) return undefined;
  if (!isInForm) return "a button sends a form that it is not in";
  return typeof name === "string" && name !== "" ? undefined : "a button of a form without a name";
}

function wrongMenu({ options }: Raw): string | undefined {
  const offered = Array.isArray(options) ? options.filter(isRaw) : [];
  const values = offered.map(({ value }) => value);
  if (offered.length === 0) return "a menu without options";
  if (offered.some(({ text }) => !isPlainText(text))) return "an option without a text";
  if (values.some((value) => typeof value !== "string")) return "the value of an option is no text";
  return hasTwice(values) ? "two options have one value" : undefined;
}

function wrongInput({ name, max_length: longest }: Raw, isInForm: boolean): string | undefined {
  if (!isInForm) return undefined;
  if (typeof name !== "string" || name === "") return "an input of a form without a name";
  if (longest === undefined) return undefined;
  return typeof longest === "number" && longest >= 1 && longest <= 1_000 ? undefined : "max_length";
}

function wrongForm({ name, elements }: Raw, isInForm: boolean): string | undefined {
  const inner = Array.isArray(elements) ? elements : [];
  if (isInForm) return "a form within a form";
  if (typeof name !== "string" || name === "") return "a form without a name";
  const isSent = inner.some((one) => isRaw(one) && one["form_action_type"] === "submit");
  return isSent ? wrongElement(inner, true) : "a form without a button that sends it";
}

/** Returns the names of an element and its children. Names must be unique within the card. */
function namesIn(element: unknown): readonly unknown[] {
  if (!isRaw(element)) return [];
  const inner = Array.isArray(element["elements"]) ? element["elements"].flatMap(namesIn) : [];
  return element["name"] === undefined ? inner : [element["name"], ...inner];
}

function hasTwice(values: readonly unknown[]): boolean {
  return new Set(values).size < values.length;
}

function isPlainText(text: unknown): boolean {
  return isRaw(text) && text["tag"] === "plain_text" && typeof text["content"] === "string";
}
