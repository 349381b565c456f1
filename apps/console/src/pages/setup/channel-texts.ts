import type { SetupChannel } from "@signalbox/client";
import texts from "./channel-texts.zh.json" with { type: "json" };

/** Chinese texts of the setup of the built-in channels, by their English texts. */
const CHINESE = new Map(Object.entries(texts));

/** Returns the Chinese translation of a text of the setup, if there is one. */
export function translateChannelText(text: string): string | undefined {
  return CHINESE.get(text);
}

/**
 * Returns a channel with its texts in Chinese. Texts without a translation, such as those of channel packages, stay as
 * they are.
 */
export function toChinese(channel: SetupChannel): SetupChannel {
  const translate = <T extends string | undefined>(text: T): T | string =>
    text === undefined ? text : (CHINESE.get(text) ?? text);
  return {
    ...channel,
    fields: channel.fields.map((field) => ({
      ...field,
      label: translate(field.label),
      hint: translate(field.hint),
      options: field.options?.map((option) => ({
        ...option,
        label: translate(option.label),
        hint: translate(option.hint),
      })),
    })),
    steps: channel.steps.map((step) => ({ ...step, text: translate(step.text) })),
  };
}
