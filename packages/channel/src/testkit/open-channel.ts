import { strict as assert } from "node:assert";
import type { Channel, ChannelContext, ChannelDefinition } from "../contract/definition.ts";
import type { EmitResult, InboundEvent } from "../contract/events.ts";
import { createInMemoryCache, createInMemoryState } from "../host/in-memory.ts";
import { systemClock } from "../host/system-clock.ts";

/** An account of a channel that runs, with what it emitted and logged. Disposing of it stops it. */
export interface RunningChannel<Address> extends AsyncDisposable {
  readonly channel: Channel<Address>;
  /** What `emit` has accepted. */
  readonly events: InboundEvent[];
  readonly logged: string[];
  /** What `emit` answers. Undefined: it knows the ids of events and of messages, as a gateway does. */
  onEmit: ((event: InboundEvent) => Promise<EmitResult>) | undefined;
}

export interface OpenOptions<Config> {
  /** Takes the place of what the channel is given otherwise. */
  readonly context?: Partial<ChannelContext<Config>>;
  /** Default true. */
  readonly start?: boolean;
  /** How long it may end what is under way, in milliseconds. Default 0. */
  readonly drainMs?: number;
  /** What ends with it: its stand-in, for instance. */
  readonly close?: () => Promise<void>;
}

/** Brings an account up as a gateway would, for a test. @param settings before the definition's schema */
export async function openChannel<Config, Address>(
  definition: ChannelDefinition<Config, Address>,
  settings: unknown,
  { context, start = true, drainMs = 0, close }: OpenOptions<Config> = {},
): Promise<RunningChannel<Address>> {
  const checked = await definition.config["~standard"].validate(settings);
  if (checked.issues !== undefined)
    assert.fail(`the settings are refused: ${checked.issues.map(({ message }) => message).join("; ")}`);
  const lifetime = new AbortController();
  const logged: string[] = [];
  const log = (message: string, fields?: unknown): void =>
    void logged.push(`${message} ${JSON.stringify(fields ?? {})}`);
  const seen = new Set<string>();
  const events: InboundEvent[] = [];
  const channel = await definition.create({
    config: checked.value,
    account: "main",
    logger: { debug: log, info: log, warn: log, error: log },
    fetch: globalThis.fetch,
    clock: systemClock,
    cache: createInMemoryCache({ clock: systemClock }),
    state: createInMemoryState(),
    signal: lifetime.signal,
    async emit(event) {
      if (running.onEmit !== undefined) return running.onEmit(event);
      const ids = idsOf(event);
      if (ids.some((id) => seen.has(id))) return "duplicate";
      for (const id of ids) seen.add(id);
      events.push(event);
      return "accepted";
    },
    ...context,
  });
  const running: RunningChannel<Address> = {
    channel,
    events,
    logged,
    onEmit: undefined,
    async [Symbol.asyncDispose]() {
      await channel.stop({ drainMs });
      lifetime.abort();
      await close?.();
    },
  };
  try {
    if (start) await channel.start(lifetime.signal);
  } catch (error) {
    await running[Symbol.asyncDispose]();
    throw error;
  }
  return running;
}

/** What makes an event one that was there before. */
function idsOf(event: InboundEvent): readonly string[] {
  const ids = [`event ${event.eventId}`];
  if (event.type !== "message" || event.messageId === "") return ids;
  return [...ids, `message ${event.conversation.id} ${event.messageId}`];
}
