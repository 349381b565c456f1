import { createContext, useContext } from "react";
import { useLanguage } from "../../words/words.tsx";
import { belongsTo } from "./effects.tsx";
import type { Schema } from "./schema-kind.ts";
import { translateSetting } from "./setting-texts.ts";
import { useConfigurationWords } from "./words.ts";

/** Keys whose changes take effect at the next start. */
export const KeysForStart = createContext<readonly string[]>([]);

/** Returns a function that describes a setting: its text in the schema, notes, and when a change takes effect. */
export function useDescription(): (
  field: { schema: Schema; path: string },
  ...notes: readonly string[]
) => string | undefined {
  const words = useConfigurationWords();
  const [language] = useLanguage();
  const keys = useContext(KeysForStart);
  return ({ schema: { description }, path }, ...notes) => {
    const isForStart = keys.some((key) => path === key || (path.startsWith(key) && belongsTo(path, key)));
    const parts = [
      typeof description !== "string" ? "" : language === "zh" ? translateSetting(description) : description,
      ...notes,
      isForStart ? words.restartNote : "",
    ];
    const text = parts.filter((part) => part !== "").join(language === "zh" ? "" : " ");
    return text === "" ? undefined : text;
  };
}
