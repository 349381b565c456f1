import { createHash } from "node:crypto";
import {
  type ChannelCommand,
  type ChannelContext,
  ChannelError,
  fitLabel,
  isPayload,
  textAt,
} from "@signalbox/channel";
import type { DiscordApi } from "./api.ts";
import type { DiscordConfig } from "./config.ts";
import { limits } from "./limits.ts";

type CommandsContext = Pick<ChannelContext<DiscordConfig>, "commands" | "state" | "logger">;

/** Discord accepts lower-case letters of any script, digits, hyphens and underscores. */
const namePattern = /^[-_\p{L}\p{N}]{1,32}$/u;
/** Source: "Application Commands". */
const chatInput = 1;
const onMessage = 3;
const stringOption = 3;
const inServers = 0;
const inDirectMessages = 1;

const contexts = [inServers, inDirectMessages];

/** Languages that Discord supports only with a region. */
const regional: ReadonlyMap<string, readonly string[]> = new Map([
  ["en", ["en-GB", "en-US"]],
  ["es", ["es-419", "es-ES"]],
  ["pt", ["pt-BR"]],
  ["sv", ["sv-SE"]],
  ["zh", ["zh-CN", "zh-TW"]],
]);

/** Message command that opens a form for asking about the message. */
const askAboutCommand = {
  type: onMessage,
  name: "Ask about this",
  name_localizations: { "zh-CN": "就此提问", "zh-TW": "就此提問" },
  contexts,
};

/** Replaces the application's commands with the host's, unless the same list is already registered. */
export async function registerCommands(
  { commands = [], state, logger }: CommandsContext,
  api: DiscordApi,
  botId: string,
  signal: AbortSignal,
): Promise<void> {
  const possible = commands.filter(isRegistrable).slice(0, limits.commands);
  const body = [...possible.map(toDiscordCommand), askAboutCommand];
  const digest = createHash("sha256").update(JSON.stringify(body)).digest("hex");
  const key = `${botId}/commands`;
  if ((await state.get(key)) === digest) return;
  const path = `/applications/${await ownApplication(api, signal)}/commands` as const;
  await api.call({ what: "registering commands", method: "PUT", path, body, signal });
  await state.set(key, digest);
  logger.info("registered commands", { count: body.length });
  if (possible.length < commands.length) logger.warn("skipped commands that Discord does not accept");
}

async function ownApplication(api: DiscordApi, signal: AbortSignal): Promise<string> {
  const what = "fetching the application";
  const application = await api.call({ what, method: "GET", path: "/applications/@me", signal });
  const id = isPayload(application) ? textAt(application, "id") : undefined;
  if (id === undefined)
    throw new ChannelError("transient", "Discord: the response contains no application id");
  return id;
}

function isRegistrable({ name }: ChannelCommand): boolean {
  return namePattern.test(name) && name === name.toLowerCase();
}

function toDiscordCommand({ name, description, localized = {}, usage }: ChannelCommand): unknown {
  const shown = (text: string) => (text.trim() === "" ? name : fitLabel(text, limits.descriptionLength));
  const descriptions = Object.entries(localized).flatMap(([language, text]) =>
    (regional.get(language) ?? [language]).map((locale) => [locale, shown(text)]),
  );
  return {
    type: chatInput,
    name,
    description: shown(description),
    description_localizations: descriptions.length > 0 ? Object.fromEntries(descriptions) : undefined,
    contexts,
    options: usage === undefined ? undefined : [createOption(usage)],
  };
}

/** All arguments together are one option. Its name is the first word of the usage. */
function createOption(usage: string): unknown {
  const name = /[\p{L}\p{N}]+/u.exec(usage)?.[0].toLowerCase().slice(0, limits.commandNameLength) ?? "text";
  const description = fitLabel(usage, limits.descriptionLength);
  return { type: stringOption, name, description, required: usage.startsWith("<") };
}
