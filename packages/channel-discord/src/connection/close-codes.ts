import { ChannelError } from "@signalbox/channel";

const bot = "Bot, in the developer portal (discord.com/developers/applications)";

/** Close codes that require action from an operator. Source: "Gateway Close Event Codes". */
const fatalCloseCodes: Readonly<Record<number, string>> = {
  4004: `the token was rejected: reset it under ${bot} and update the configuration`,
  4010: "the shard was rejected",
  4011: "the bot is in too many servers for one connection, and sharding is not supported",
  4012: "the gateway version was rejected",
  4013: "the intents were rejected",
  4014: `the intents were rejected: turn on Message Content Intent under ${bot}, or set messageContent: false`,
};

/** The settings that a close code concerns. */
const refusedSettings: Readonly<Record<number, readonly string[]>> = {
  4004: ["token"],
  4014: ["messageContent"],
};

/** Returns true if Discord has ended the session: 4007 means an invalid sequence, 4009 a timeout. */
export function isSessionOver(code: number): boolean {
  return code === 4007 || code === 4009;
}

/** Converts a close code to an error. */
export function toCloseError(code: number): ChannelError {
  const reason = fatalCloseCodes[code];
  if (reason === undefined) return createConnectionError(`the connection was closed (${code})`);
  return new ChannelError(code === 4004 ? "auth" : "permission", `Discord: ${reason}`, {
    scope: "account",
    platformCode: String(code),
    settings: refusedSettings[code],
  });
}

export function createConnectionError(reason: string): ChannelError {
  return new ChannelError("transient", `Discord: ${reason}`, { scope: "account" });
}
