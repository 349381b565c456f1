import type { Channel, ChannelContext, ChannelDefinition } from "../contract/definition.ts";
import type { EmitResult, InboundEvent } from "../contract/events.ts";
import { createInMemoryCache, createInMemoryState } from "../host/in-memory.ts";
import { systemClock } from "../host/system-clock.ts";
import { expectThat } from "./expect.ts";

/** A running account with its emitted events and log entries. Disposing of it stops it. */
export interface RunningChannel<Address> extends AsyncDisposable {
  readonly channel: Channel<Address>;
  /** The events that `emit` accepted. */
  readonly events: InboundEvent[];
  readonly logged: string[];
  /** Replaces `emit`. By default, events and messages with a known id are treated as duplicates, as in a gateway. */
  onEmit: ((event: InboundEvent) => Promise<EmitResult>) | undefined;
}

export interface OpenOptions<Config> {
  /** Overrides fields of the context. */
  readonly context?: Partial<ChannelContext<Config>>;
  /** Whether to start the account. Default: true. */
  readonly start?: boolean;
  /** Maximum time to wait for operations in progress when the account is stopped, in milliseconds. Default: 0. */
  readonly drainMs?: number;
  /** Called after the account has stopped, for instance to stop the fake platform. */
  readonly close?: () => Promise<void>;
}

/**
 * Starts an account for a test, as a gateway would.
 *
 * @param settings the settings before validation by the schema
 * @example
 * ```ts
 * await using running = await openChannel(mine, { token: "secret" });
 * await running.channel.send(to, { parts: [{ type: "text", text: "hi" }] }, { idempotencyKey: "k", signal });
 * ```
 */
export async function openChannel<Config, Address>(
  definition: ChannelDefinition<Config, Address>,
  settings: unknown,
  { context, start = true, drainMs = 0, close }: OpenOptions<Config> = {},
): Promise<RunningChannel<Address>> {
  const checked = await definition.config["~standard"].validate(settings);
  expectThat(
    checked.issues === undefined,
    `The schema rejects the settings: ${checked.issues?.map(({ message }) => message).join("; ")}`,
  );
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
      const ids = getIds(event);
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

/** Returns the ids that identify duplicates. */
function getIds(event: InboundEvent): readonly string[] {
  const ids = [`event ${event.eventId}`];
  if (event.type !== "message" || event.messageId === "") return ids;
  return [...ids, `message ${event.conversation.id} ${event.messageId}`];
}
