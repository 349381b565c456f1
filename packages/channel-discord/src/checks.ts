import { type AccountCheck, isPayload } from "@signalbox/channel";
import type { DiscordApi } from "./api.ts";
import type { DiscordConfig } from "./config.ts";

/** Flags of an application with Message Content Intent: of one in many servers, and of one in few. */
const MESSAGE_CONTENT = (1 << 18) | (1 << 19);

/** Whether the bot is given what people write, as its settings expect. */
export async function checkIntents(
  api: DiscordApi,
  { messageContent }: DiscordConfig,
  signal: AbortSignal,
): Promise<readonly AccountCheck[]> {
  const what = "asking for the application";
  const application = await api.call({ what, method: "GET", path: "/applications/@me", signal });
  const flags = isPayload(application) ? Number(application["flags"]) : 0;
  const isGiven = (flags & MESSAGE_CONTENT) !== 0;
  if (isGiven || !messageContent)
    return [
      {
        about: "intents",
        ok: true,
        detail: messageContent
          ? "Message Content Intent is turned on"
          : "none is needed: the bot reads direct messages and mentions alone",
      },
    ];
  return [
    {
      about: "intents",
      ok: false,
      detail: "messageContent is true, and Message Content Intent is not turned on",
      remedy:
        "Turn it on under Bot > Privileged Gateway Intents of the application, or set messageContent: false.",
    },
  ];
}
