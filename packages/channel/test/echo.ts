import { type ChannelDefinition, ChannelError, defineChannel } from "../src/index.ts";
import { createEcho } from "./echo-account.ts";
import { type EchoAddress, type EchoConfig, echoConfig, echoLimits } from "./echo-config.ts";

export type EchoDefinition = ChannelDefinition<EchoConfig, EchoAddress>;

/** A channel that implements everything in the contract, on a platform in memory. */
export const echo: EchoDefinition = defineChannel({
  specVersion: 1,
  id: "echo",
  meta: { label: "Echo", fields: { password: { label: "Password", secret: true } } },
  config: echoConfig,
  capabilities: {
    text: { ...echoLimits.text, markup: "plain" },
    media: { kinds: ["file"], maxBytes: echoLimits.mediaBytes, maxPerMessage: 1 },
    sendMedia: echoLimits.sendMedia,
    polls: echoLimits.polls,
    edit: { ownOnly: true, windowMs: echoLimits.editWindowMs },
    remove: true,
    stream: "draft",
    threads: "native",
    reactions: true,
    typing: true,
    openDirect: true,
    history: true,
    resolve: true,
    cards: echoLimits.cards,
    commands: true,
    delivery: { idempotencyKey: { windowMs: 1000 }, readback: true },
    rate: [],
    transports: ["webhook"],
  },
  codec: {
    encode: ({ id }) => `echo:${encodeURIComponent(id)}`,
    decode(text) {
      const id = /^echo:([\w%.~!*'()-]+)$/.exec(text)?.[1];
      const plain = id === undefined ? undefined : decodePart(id);
      if (plain === undefined || encodeURIComponent(plain) !== id)
        throw new ChannelError("invalid", "invalid address");
      return { id: plain };
    },
  },
  create: async (context) => createEcho(context),
});

function decodePart(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
