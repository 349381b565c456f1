import { Buffer } from "node:buffer";
import type { Duplex } from "node:stream";
import { clearInterval, setInterval } from "node:timers";
import { isDeepStrictEqual } from "node:util";
import { definitionIn } from "../accounts/import-channel.ts";
import type { Channel, ChannelContext, ChannelDefinition, ChannelLogger } from "../contract/definition.ts";
import { ChannelError } from "../contract/errors.ts";
import type { Draft, FinalizeOptions } from "../contract/messages.ts";
import { systemClock } from "../host/system-clock.ts";
import { ByteStreams, readFrom } from "./byte-streams.ts";
import { type Handler, handling, Line } from "./line.ts";
import { accountMethods, hostMethods, type Method } from "./methods.ts";

/** How often the host is told what has changed. */
const STATUS_MS = 500;
/** How often the host is told in any case, as a sign of life. */
const ALIVE_MS = 5_000;

/**
 * The other end of a host's line: starts one account, does what the host asks, and passes on what comes in.
 * @param onGone called when the line is cut and the host is gone
 */
export function serveAccount(stream: Duplex, onGone: () => void): void {
  new ServedAccount(stream, onGone).begin();
}

/** A channel that runs, and the definition it is of. */
interface Opened {
  readonly definition: ChannelDefinition;
  readonly channel: Channel;
}

class ServedAccount {
  readonly #line: Line;
  readonly #lifetime = new AbortController();
  readonly #bytes = new ByteStreams();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #drafts = new Map<number, { readonly draft: Draft; readonly halt: AbortController }>();
  #draftCount = 0;
  #opened: Opened | undefined;
  #reported: unknown;

  constructor(stream: Duplex, onGone: () => void) {
    this.#line = new Line(stream, this.#handlers(), () => {
      for (const timer of this.#timers) clearInterval(timer);
      this.#lifetime.abort();
      onGone();
    });
  }

  begin(): void {
    const reportAgain = (): void => {
      this.#reported = undefined;
      this.#reportStatus();
    };
    this.#timers.push(
      setInterval(() => this.#reportStatus(), STATUS_MS).unref(),
      setInterval(reportAgain, ALIVE_MS).unref(),
    );
  }

  #handlers(): readonly Handler[] {
    return [
      ...this.#forLifecycle(),
      ...this.#forMessages(),
      ...this.#forLookups(),
      ...this.#forDrafts(),
      ...this.#bytes.handlers,
    ];
  }

  #forLifecycle(): readonly Handler[] {
    return [
      handling(
        accountMethods.create,
        async ({ module, channel: id, account: name, config, commands, raw }) => {
          const definition = definitionIn(await import(module), id);
          if (definition === undefined) throw new Error(`${module} exports no channel ${id} of version 1`);
          const context = { config, account: name, commands, raw };
          const channel = await definition.create(this.#contextOf(context));
          this.#opened = { definition, channel };
          this.#reportStatus();
          const methods = Object.entries(channel).filter(([, value]) => typeof value === "function");
          return { methods: methods.map(([method]) => method) };
        },
      ),
      this.#asking(accountMethods.start, ({ channel }, _, signal) =>
        channel.start(AbortSignal.any([signal, this.#lifetime.signal])),
      ),
      this.#asking(accountMethods.stop, ({ channel }, { drainMs }) => channel.stop({ drainMs })),
    ];
  }

  #forMessages(): readonly Handler[] {
    return [
      this.#asking(accountMethods.webhook, async ({ channel }, { method, url, headers, body }) => {
        const bytes = Buffer.from(body, "base64");
        const request = new Request(url, {
          method,
          headers,
          ...(method === "GET" || method === "HEAD" ? {} : { body: bytes }),
        });
        const response = await methodOf(channel.webhook, "webhook").call(channel, request, async () => bytes);
        return {
          status: response.status,
          headers: [...response.headers],
          body: Buffer.from(await response.arrayBuffer()).toString("base64"),
        };
      }),
      this.#asking(
        accountMethods.send,
        ({ channel, definition }, { to, message, callbacks, ...rest }, signal) =>
          channel.send(definition.codec.decode(to), message, {
            ...rest,
            ...this.#callbacks(callbacks),
            signal,
          }),
      ),
      this.#asking(accountMethods.edit, ({ channel, definition }, { to, messageId, message }, signal) =>
        methodOf(channel.edit, "edit").call(channel, definition.codec.decode(to), messageId, message, signal),
      ),
      this.#asking(accountMethods.remove, ({ channel, definition }, { to, messageId }, signal) =>
        methodOf(channel.remove, "remove").call(channel, definition.codec.decode(to), messageId, signal),
      ),
      this.#asking(accountMethods.closePoll, ({ channel, definition }, { to, messageId }, signal) =>
        methodOf(channel.closePoll, "closePoll").call(
          channel,
          definition.codec.decode(to),
          messageId,
          signal,
        ),
      ),
      this.#asking(accountMethods.react, ({ channel, definition }, { to, messageId, emoji, on }, signal) =>
        methodOf(channel.react, "react").call(
          channel,
          definition.codec.decode(to),
          messageId,
          { emoji, on },
          signal,
        ),
      ),
      this.#asking(accountMethods.typing, ({ channel, definition }, { to, ...state }, signal) =>
        methodOf(channel.typing, "typing").call(channel, definition.codec.decode(to), state, signal),
      ),
      this.#asking(accountMethods.reconcile, ({ channel, definition }, { to, ...intent }, signal) =>
        methodOf(channel.reconcile, "reconcile").call(
          channel,
          { ...intent, to: definition.codec.decode(to) },
          signal,
        ),
      ),
    ];
  }

  #forLookups(): readonly Handler[] {
    return [
      this.#asking(accountMethods.openDirect, async ({ channel, definition }, { userId }, signal) => {
        const to = await methodOf(channel.openDirect, "openDirect").call(channel, userId, signal);
        return { to: definition.codec.encode(to) };
      }),
      this.#asking(accountMethods.history, async ({ channel, definition }, { to, ...options }, signal) => {
        const history = methodOf(channel.history, "history");
        return [...(await history.call(channel, definition.codec.decode(to), { ...options, signal }))];
      }),
      this.#asking(accountMethods.resolve, async ({ channel }, { userId }, signal) => {
        return (await methodOf(channel.resolve, "resolve").call(channel, userId, signal)) ?? {};
      }),
      this.#asking(accountMethods.checks, async ({ channel }, _, signal) => {
        return [...(await methodOf(channel.checks, "checks").call(channel, signal))];
      }),
      this.#asking(accountMethods.fetchMedia, async ({ channel }, { media }, signal) => {
        const { body, ...rest } = await methodOf(channel.fetchMedia, "fetchMedia").call(
          channel,
          media,
          signal,
        );
        return { ...rest, stream: this.#bytes.offer(body) };
      }),
    ];
  }

  #forDrafts(): readonly Handler[] {
    return [
      this.#asking(accountMethods.openDraft, async ({ channel, definition }, { to, ...options }) => {
        const halt = new AbortController();
        const signal = AbortSignal.any([halt.signal, this.#lifetime.signal]);
        const openDraft = methodOf(channel.openDraft, "openDraft");
        const draft = await openDraft.call(channel, definition.codec.decode(to), { ...options, signal });
        const id = this.#draftCount++;
        this.#drafts.set(id, { draft, halt });
        return { draft: id };
      }),
      this.#asking(accountMethods.updateDraft, async (_, { draft: id, snapshot }) => {
        const { draft } = this.#drafts.get(id) ?? {};
        await draft?.update(snapshot);
        return draft?.messageId === undefined ? {} : { messageId: draft.messageId };
      }),
      this.#asking(accountMethods.finalizeDraft, async (_, { draft: id, message, callbacks, ...options }) => {
        const { draft } = this.#drafts.get(id) ?? {};
        if (draft === undefined) throw new ChannelError("invalid", "The draft is over");
        const { idempotencyKey } = options;
        const receipt = await draft.finalize(
          message,
          idempotencyKey === undefined ? undefined : { idempotencyKey, ...this.#callbacks(callbacks) },
        );
        this.#drafts.delete(id);
        return receipt;
      }),
      this.#asking(accountMethods.prolongDraft, async (_, { draft }) => {
        await this.#drafts.get(draft)?.draft.prolong?.();
        return undefined;
      }),
      this.#asking(accountMethods.abortDraft, async (_, { draft }) => {
        await this.#drafts.get(draft)?.draft.abort();
        this.#drafts.delete(draft);
        return undefined;
      }),
      this.#asking(accountMethods.haltDraft, (_, { draft }) => {
        this.#drafts.get(draft)?.halt.abort();
        this.#drafts.delete(draft);
      }),
    ];
  }

  /** A method of the channel; the host hears how the account is before it hears the answer. */
  #asking<Params, Result>(
    method: Method<Params, Result>,
    ask: (opened: Opened, params: Params, signal: AbortSignal) => Promise<Result> | Result,
  ): Handler {
    return handling(method, async (params, signal) => {
      if (this.#opened === undefined) throw new ChannelError("transient", "The account is not there yet");
      try {
        return await ask(this.#opened, params, signal);
      } finally {
        this.#reportStatus();
      }
    });
  }

  /** What the host does while a message is sent. */
  #callbacks({ id: sending, opensMedia }: { readonly id: number; readonly opensMedia: boolean }) {
    const onPart: FinalizeOptions["onPart"] = (part) => this.#line.call(hostMethods.part, { sending, part });
    const openMedia: FinalizeOptions["openMedia"] = async (part) => {
      const { stream } = await this.#line.call(hostMethods.openMedia, { sending, part });
      return readFrom(this.#line, stream);
    };
    return { onPart, ...(opensMedia ? { openMedia } : {}) };
  }

  #contextOf(
    given: Pick<ChannelContext, "config" | "account"> & Required<Pick<ChannelContext, "commands" | "raw">>,
  ): ChannelContext {
    const line = this.#line;
    const log =
      (level: keyof ChannelLogger): ChannelLogger[typeof level] =>
      (message, fields) => {
        void line
          .call(hostMethods.log, { level, message, ...(fields === undefined ? {} : { fields }) })
          .catch(() => {});
      };
    return {
      ...given,
      logger: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") },
      emit: (event) => line.call(hostMethods.emit, { event }),
      fetch: globalThis.fetch,
      clock: systemClock,
      cache: {
        get: async (key) => (await line.call(hostMethods.cacheGet, { key })).value,
        set: (key, value, ttlMs) => line.call(hostMethods.cacheSet, { key, value, ttlMs }),
      },
      state: {
        get: async (key) => (await line.call(hostMethods.stateGet, { key })).value,
        set: (key, value) => line.call(hostMethods.stateSet, { key, value }),
        delete: (key) => line.call(hostMethods.stateDelete, { key }),
      },
      signal: this.#lifetime.signal,
    };
  }

  #reportStatus(): void {
    if (this.#opened === undefined) return;
    const { channel } = this.#opened;
    const self = channel.self();
    const status = { health: channel.health(), ...(self === undefined ? {} : { self }) };
    if (isDeepStrictEqual(status, this.#reported)) return;
    this.#reported = status;
    void this.#line.call(hostMethods.status, status).catch(() => {});
  }
}

/** A method that the host calls only where the channel has said that it has it. */
function methodOf<M>(method: M | undefined, name: string): M {
  if (method === undefined) throw new ChannelError("unsupported", `The channel has no ${name}`);
  return method;
}
