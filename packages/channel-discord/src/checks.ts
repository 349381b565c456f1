import { type AccountCheck, isPayload } from "@signalbox/channel";
import type { DiscordApi } from "./api.ts";
import type { DiscordConfig } from "./config.ts";

/** Application flags for the Message Content Intent, for verified and unverified bots. */
const MESSAGE_CONTENT = (1 << 18) | (1 << 19);

/** Checks whether the bot receives the content of messages, as its configuration requires. */
export async function checkIntents(
  api: DiscordApi,
  { messageContent }: DiscordConfig,
  signal: AbortSignal,
): Promise<readonly AccountCheck[]> {
  const what = "fetching the application";
  const application = await api.call({ what, method: "GET", path: "/applications/@me", signal });
  const flags = isPayload(application) ? Number(application["flags"]) : 0;
  const isGiven = (flags & MESSAGE_CONTENT) !== 0;
  if (isGiven || !messageContent)
    return [
      {
        about: "intents",
        ok: true,
        detail: messageContent
          ? "Message Content Intent is on"
          : "no intent is needed: the bot receives only direct messages and mentions",
      },
    ];
  return [
    {
      about: "intents",
      ok: false,
      detail: "messageContent is true, but Message Content Intent is off",
      remedy:
        "Turn it on under Bot > Privileged Gateway Intents of the application, or set messageContent: false.",
    },
  ];
}
