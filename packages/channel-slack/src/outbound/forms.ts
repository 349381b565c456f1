import { fitText } from "@signalbox/channel";
import { limits } from "../limits.ts";
import { plainText } from "./buttons.ts";

/** A modal with one text field. */
export interface Form {
  /** Label of the button that opened the form. */
  readonly label: string;
  /** Text of the message with the button, in mrkdwn. */
  readonly question: string | undefined;
  /** Slack returns it with the submission. */
  readonly metadata: string;
}

/** Ids of the field's block and of the field. */
export const fieldIds = { block: "text", action: "text" } as const;
/** `callback_id` of modals from this channel. */
export const FORM_CALLBACK_ID = "signalbox";

/** Renders the view for `views.open`. Sources: "Modals" and "Input block" in Slack's documentation. */
export function renderForm({ label, question, metadata }: Form): Readonly<Record<string, unknown>> {
  const text = fitText(question ?? "", { max: limits.sectionLength, unit: "utf16" });
  const about = text.trim() === "" ? [] : [{ type: "section", text: { type: "mrkdwn", text } }];
  const field = {
    type: "input",
    block_id: fieldIds.block,
    label: plainText(label, limits.formLabelLength),
    element: {
      type: "plain_text_input",
      action_id: fieldIds.action,
      multiline: true,
      max_length: limits.formTextLength,
    },
  };
  return {
    type: "modal",
    callback_id: FORM_CALLBACK_ID,
    title: plainText(label, limits.formTitleLength),
    submit: plainText("OK", limits.formTitleLength),
    private_metadata: metadata,
    blocks: [...about, field],
  };
}
