import { type ChannelCommand, fitLabel } from "@signalbox/channel";
import type { BotCommand, LanguageCode } from "grammy/types";
import type { TelegramApi } from "./api.ts";
import { limits } from "./limits.ts";

/**
 * Registers the host's commands with Telegram in each of their languages, unless Telegram already has the
 * same list.
 *
 * @returns the number of commands that Telegram does not accept
 */
export async function registerCommands(
  api: TelegramApi,
  commands: readonly ChannelCommand[],
  signal: AbortSignal,
): Promise<number> {
  const possible = commands.filter(({ name }) => /^[a-z0-9_]{1,32}$/.test(name)).slice(0, limits.commands);
  const languages = possible.flatMap(({ localized = {} }) => Object.keys(localized).filter(isLanguageCode));
  const call = { what: "registering commands", write: false, signal };
  for (const language of [undefined, ...new Set(languages)]) {
    const wanted = possible.map((command) => toBotCommand(command, language));
    // The list without a language code is shown to users of all other languages.
    const whose = language === undefined ? {} : { language_code: language };
    const listed = await api.call(call, (raw) => raw.getMyCommands(whose));
    const same = listed.map(({ command, description }) => ({ command, description }));
    if (JSON.stringify(same) === JSON.stringify(wanted)) continue;
    await api.call(call, (raw) => raw.setMyCommands({ ...whose, commands: wanted }));
  }
  return commands.length - possible.length;
}

function isLanguageCode(language: string): language is LanguageCode {
  return /^[a-z]{2}$/.test(language);
}

function toBotCommand(command: ChannelCommand, language: string | undefined): BotCommand {
  const { name, localized = {}, usage } = command;
  const description = (language === undefined ? undefined : localized[language]) ?? command.description;
  const words = [description, ...(usage === undefined ? [] : [`(${usage})`])].join(" ");
  return {
    command: name,
    description: words.trim() === "" ? name : fitLabel(words, limits.descriptionLength),
  };
}
