import {
  type Channel,
  type ChannelError,
  type Draft,
  isChannelError,
  type MessageEvent,
} from "../src/index.ts";
import type { EchoDefinition } from "./echo.ts";
import type { EchoAddress } from "./echo-config.ts";

export type Echo = Channel<EchoAddress>;
export type Context = Parameters<EchoDefinition["create"]>[0];

/** A way of being wrong, and the check that must catch it. */
export interface Fault {
  readonly fault: string;
  readonly check: string;
  plant(sound: EchoDefinition): EchoDefinition;
  /** The module that is loaded as the channel's, where that is what is wrong. */
  readonly entry?: URL;
}

/** Something else of a running channel. */
export const running =
  (change: (channel: Echo, context: Context) => Partial<Echo>) => (sound: EchoDefinition) => ({
    ...sound,
    create: async (context: Context) => {
      const channel = await sound.create(context);
      return { ...channel, ...change(channel, context) };
    },
  });
/** Something else of what a channel is given. */
export const given = (change: (context: Context) => Partial<Context>) => (sound: EchoDefinition) => ({
  ...sound,
  create: (context: Context) => sound.create({ ...context, ...change(context) }),
});
/** Messages that are not what came. */
export const events = (change: (event: MessageEvent) => Partial<MessageEvent>) =>
  given(({ emit }) => ({
    emit: (event) => emit(event.type === "message" ? { ...event, ...change(event) } : event),
  }));
/** Drafts that do something else. */
export const drafts = (change: (draft: Draft) => Partial<Draft>) =>
  running((channel) => ({
    openDraft: async (to, options) => {
      const draft = await opened(channel, to, options);
      return Object.defineProperties(
        { ...draft, ...change(draft) },
        {
          messageId: { get: () => draft.messageId },
        },
      );
    },
  }));

export function opened(channel: Echo, ...args: Parameters<NonNullable<Echo["openDraft"]>>): Promise<Draft> {
  if (channel.openDraft === undefined) throw new Error("there are no drafts");
  return channel.openDraft(...args);
}

/** An error in place of the channel's own. */
export const errors = (change: (error: ChannelError) => ChannelError) =>
  running((channel) => ({
    send: (...args) =>
      channel.send(...args).catch((error: unknown) => {
        throw isChannelError(error) ? change(error) : error;
      }),
  }));

let counter = 0;

/** A key that was never used. */
export function another(): string {
  counter += 1;
  return `k${counter}`;
}
