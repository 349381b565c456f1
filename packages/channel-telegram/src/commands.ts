import type { ChannelCommand } from "@signalbox/channel";
import type { BotCommand } from "grammy/types";
import type { TelegramApi } from "./api.ts";

/** Has Telegram list the host's commands, where its list is another. */
export async function registerCommands(
  api: TelegramApi,
  commands: readonly ChannelCommand[],
  signal: AbortSignal,
): Promise<void> {
  const wanted = commands
    .filter(({ name }) => /^[a-z0-9_]{1,32}$/.test(name))
    .slice(0, 100)
    .map(toBotCommand);
  const call = { what: "listing commands", write: false, signal };
  const listed = await api.call(call, (raw) => raw.getMyCommands({}));
  if (
    JSON.stringify(listed.map(({ command, description }) => ({ command, description }))) ===
    JSON.stringify(wanted)
  )
    return;
  await api.call(call, (raw) => raw.setMyCommands({ commands: wanted }));
}

function toBotCommand({ name, description, usage }: ChannelCommand): BotCommand {
  const words = [description, ...(usage === undefined ? [] : [`(${usage})`])].join(" ");
  return { command: name, description: words.slice(0, 256) || name };
}
