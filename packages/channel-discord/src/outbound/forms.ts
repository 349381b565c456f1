import { fitLabel } from "@signalbox/channel";
import { limits } from "../limits.ts";

/** A modal with one text field. */
export interface Form {
  /** Discord returns it with the submission. */
  readonly customId: string;
  readonly title: string;
  /** Label of the field. */
  readonly label: string;
  /** Longer description of the field. */
  readonly description?: string;
}

/** Source: "Component Reference". A paragraph is a multi-line input. */
const component = { label: 18, textInput: 4 } as const;
const paragraph = 2;

/** Renders the callback data that opens the modal. */
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
