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

/** A fault, and the check that must catch it. */
export interface Fault {
  readonly fault: string;
  readonly check: string;
  plant(echo: EchoDefinition): EchoDefinition;
  /** Replaces the module of the channel's definition, if that has the fault. */
  readonly entry?: URL;
}

/** Replaces methods of a running channel. */
export const running =
  (change: (channel: Echo, context: Context) => Partial<Echo>) => (echo: EchoDefinition) => ({
    ...echo,
    create: async (context: Context) => {
      const channel = await echo.create(context);
      return { ...channel, ...change(channel, context) };
    },
  });
/** Replaces parts of the channel's context. */
export const given = (change: (context: Context) => Partial<Context>) => (echo: EchoDefinition) => ({
  ...echo,
  create: (context: Context) => echo.create({ ...context, ...change(context) }),
});
/** Changes message events. */
export const events = (change: (event: MessageEvent) => Partial<MessageEvent>) =>
  given(({ emit }) => ({
    emit: (event) => emit(event.type === "message" ? { ...event, ...change(event) } : event),
  }));
type DraftMethods = Pick<Draft, "update" | "finalize" | "abort">;

/** Replaces methods of drafts. */
export const drafts = (change: (draft: DraftMethods) => Partial<DraftMethods>) =>
  running((channel) => ({
    openDraft: async (to, options) => changeDraft(await opened(channel, to, options), change),
  }));

/** Replaces methods of a draft, which is an instance of a class. */
export function changeDraft(draft: Draft, change: (draft: DraftMethods) => Partial<DraftMethods>): Draft {
  const methods: DraftMethods = {
    update: (text) => draft.update(text),
    finalize: (message, options) => draft.finalize(message, options),
    abort: () => draft.abort(),
  };
  return {
    get messageId() {
      return draft.messageId;
    },
    ...methods,
    ...change(methods),
  };
}

export function opened(channel: Echo, ...args: Parameters<NonNullable<Echo["openDraft"]>>): Promise<Draft> {
  if (channel.openDraft === undefined) throw new Error("the channel has no openDraft");
  return channel.openDraft(...args);
}

/** Replaces errors of `send`. */
export const errors = (change: (error: ChannelError) => ChannelError) =>
  running((channel) => ({
    send: (...args) =>
      channel.send(...args).catch((error: unknown) => {
        throw isChannelError(error) ? change(error) : error;
      }),
  }));

let counter = 0;

/** Returns a new key. */
export function another(): string {
  counter += 1;
  return `k${counter}`;
}
