import { fitText } from "@signalbox/channel";
import { limits } from "../limits.ts";
import { plainText } from "./buttons.ts";

/** A form with one field of text. */
export interface Form {
  /** What the button says that opened it. */
  readonly label: string;
  /** The message with the button, in Slack's own markup. */
  readonly question: string | undefined;
  /** Comes back with what was written. */
  readonly metadata: string;
}

/** Of the field: the block it stands in, and the field itself. */
export const textField = { block: "text", action: "text" } as const;
/** Of every form of this channel. */
export const formId = "signalbox";

/** A modal, as `views.open` takes it. Source: Slack's pages on modal views and on the input block. */
export function renderForm({ label, question, metadata }: Form): Readonly<Record<string, unknown>> {
  const text = fitText(question ?? "", { max: limits.sectionLength, unit: "utf16" });
  const about = text.trim() === "" ? [] : [{ type: "section", text: { type: "mrkdwn", text } }];
  const field = {
    type: "input",
    block_id: textField.block,
    label: plainText(label, limits.formLabelLength),
    element: {
      type: "plain_text_input",
      action_id: textField.action,
      multiline: true,
      max_length: limits.formTextLength,
    },
  };
  return {
    type: "modal",
    callback_id: formId,
    title: plainText(label, limits.formTitleLength),
    submit: plainText("OK", limits.formTitleLength),
    private_metadata: metadata,
    blocks: [...about, field],
  };
}
