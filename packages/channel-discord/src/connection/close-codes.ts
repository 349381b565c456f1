import { ChannelError } from "@signalbox/channel";

const bot = "Bot, in the developer portal (discord.com/developers/applications)";

/** What somebody has to mend. Source: Discord's table of gateway close codes. */
const refused: Readonly<Record<number, string>> = {
  4004: `the token is refused: reset it under ${bot}, and put the new one into the configuration`,
  4010: "the shard is refused",
  4011: "the bot is in more servers than one connection may serve; this channel opens one",
  4012: "the version of the gateway is refused",
  4013: "the intents are refused",
  4014: `the intents are refused: turn Message Content Intent on under ${bot}, or set messageContent: false`,
};

/** Discord does not go on with the session: 4007 for a position that cannot be, 4009 for one that took too long. */
export function isSessionOver(code: number): boolean {
  return code === 4007 || code === 4009;
}

/** The end of a connection as an error. */
export function closedBy(code: number): ChannelError {
  const reason = refused[code];
  if (reason === undefined) return unconnected(`the connection was closed (${code})`);
  return new ChannelError(code === 4004 ? "auth" : "permission", `Discord: ${reason}`, {
    scope: "account",
    platformCode: String(code),
  });
}

export function unconnected(reason: string): ChannelError {
  return new ChannelError("transient", `Discord: ${reason}`, { scope: "account" });
}
