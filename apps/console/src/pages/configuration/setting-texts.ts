import { translateChannelText } from "../setup/channel-texts.ts";
import texts from "./setting-texts.zh.json" with { type: "json" };

/** Chinese descriptions of settings, by their English descriptions. */
const CHINESE = new Map(Object.entries(texts));

/**
 * Returns the Chinese description of a setting. The settings of channels are described by their label and their hint,
 * such as `Bot token: from @BotFather`. Descriptions without a translation stay as they are.
 */
export function translateSetting(description: string): string {
  const translated = CHINESE.get(description) ?? translateChannelText(description);
  if (translated !== undefined) return translated;
  // A label or a hint can contain a colon, too.
  const colons = [...description.matchAll(/: /g)].map(({ index }) => index);
  for (const at of colons) {
    const label = translateChannelText(description.slice(0, at));
    const hint = translateChannelText(description.slice(at + 2));
    if (label !== undefined && hint !== undefined) return `${label}：${hint}`;
  }
  return description;
}
