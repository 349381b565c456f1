import { detectLanguage } from "@signalbox/prompt";
import type { InitOptions, Step } from "./step.ts";

const LANGUAGES = [
  { value: "en", label: "English" },
  { value: "zh", label: "中文" },
] as const;

/**
 * Asks for the language of the initial files in new workspaces. The default is the machine's language.
 *
 * @param isRepeated true if the person went back to this step
 */
export async function languageStep(
  { env, asker, change, loaded }: Step,
  options: InitOptions,
  isRepeated: boolean,
): Promise<boolean> {
  const before = loaded().config.agents.defaults.language;
  if (before !== undefined && options.language === undefined && !isRepeated) return false;
  const ofMachine = detectLanguage(env);
  const language = await asker.choose({
    message: "Language of the first workspace files",
    given: options.language,
    initial: ofMachine,
    options: LANGUAGES,
  });
  // A service often runs without the terminal's language setting and then uses English.
  const isUsual = before === undefined && language === "en" && ofMachine === "en";
  if (!isUsual || asker.asksPerson)
    change("the language", [{ path: ["agents", "defaults", "language"], value: language }]);
  return asker.asksPerson && options.language === undefined;
}
