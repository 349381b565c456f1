import { fitLabel } from "@signalbox/channel";
import { limits } from "../limits.ts";

/** A form with one field of text. */
export interface Form {
  /** Comes back with what was written. */
  readonly customId: string;
  readonly title: string;
  /** What the field asks for. */
  readonly label: string;
  /** In more words. */
  readonly description?: string;
}

/** Source: Discord's page on components; a paragraph is a field of several lines. */
const component = { label: 18, textInput: 4 } as const;
const paragraph = 2;

/** The data of a callback that opens it. */
export function renderForm({ customId, title, label, description }: Form): unknown {
  const field = {
    type: component.textInput,
    custom_id: "text",
    style: paragraph,
    required: true,
    max_length: limits.formTextLength,
  };
  return {
    custom_id: customId,
    title: fitLabel(title, limits.formLabelLength),
    components: [
      {
        type: component.label,
        label: fitLabel(label, limits.formLabelLength),
        ...(description === undefined
          ? {}
          : { description: fitLabel(description, limits.descriptionLength) }),
        component: field,
      },
    ],
  };
}
