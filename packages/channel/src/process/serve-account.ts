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
      this.#optional("webhook", accountMethods.webhook, async (webhook, { method, url, headers, body }) => {
        const bytes = Buffer.from(body, "base64");
        const request = new Request(url, {
          method,
          headers,
          ...(method === "GET" || method === "HEAD" ? {} : { body: bytes }),
        });
        const response = await webhook(request, async () => bytes);
        return {
          status: response.status,
          headers: [...response.headers],
          body: Buffer.from(await response.arrayBuffer()).toString("base64"),
        };
      }),
      this.#asking(accountMethods.send, ({ channel }, { to, message, callbacks, ...rest }, signal) =>
        channel.send(this.#decode(to), message, { ...rest, ...this.#callbacks(callbacks), signal }),
      ),
      this.#optional("edit", accountMethods.edit, (edit, { to, messageId, message }, signal) =>
        edit(this.#decode(to), messageId, message, signal),
      ),
      this.#optional("remove", accountMethods.remove, (remove, { to, messageId }, signal) =>
        remove(this.#decode(to), messageId, signal),
      ),
      this.#optional("closePoll", accountMethods.closePoll, (closePoll, { to, messageId }, signal) =>
        closePoll(this.#decode(to), messageId, signal),
      ),
      this.#optional("react", accountMethods.react, (react, { to, messageId, emoji, on }, signal) =>
        react(this.#decode(to), messageId, { emoji, on }, signal),
      ),
      this.#optional("typing", accountMethods.typing, (typing, { to, ...state }, signal) =>
        typing(this.#decode(to), state, signal),
      ),
      this.#optional("reconcile", accountMethods.reconcile, (reconcile, { to, ...intent }, signal) =>
        reconcile({ ...intent, to: this.#decode(to) }, signal),
      ),
    ];
  }

  #forLookups(): readonly Handler[] {
    return [
      this.#optional("openDirect", accountMethods.openDirect, async (openDirect, { userId }, signal) => ({
        to: this.#account.definition.codec.encode(await openDirect(userId, signal)),
      })),
      this.#optional("history", accountMethods.history, async (history, { to, ...options }, signal) => [
        ...(await history(this.#decode(to), { ...options, signal })),
      ]),
      this.#optional(
        "resolve",
        accountMethods.resolve,
        async (resolve, { userId }, signal) => (await resolve(userId, signal)) ?? {},
      ),
      this.#optional("checks", accountMethods.checks, async (checks, _, signal) => [
        ...(await checks(signal)),
      ]),
      this.#optional("fetchMedia", accountMethods.fetchMedia, async (fetchMedia, { media }, signal) => {
        const { body, ...rest } = await fetchMedia(media, signal);
        return { ...rest, stream: this.#bytes.offer(body) };
      }),
    ];
  }

  #forDrafts(): readonly Handler[] {
    return [
      this.#optional("openDraft", accountMethods.openDraft, async (openDraft, { to, ...options }) => {
        const halt = new AbortController();
        const signal = AbortSignal.any([halt.signal, this.#lifetime.signal]);
        const draft = await openDraft(this.#decode(to), { ...options, signal });
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
      try {
        return await ask(this.#account, params, signal);
      } finally {
        this.#reportStatus();
      }
    });
  }

  /** The same of a method that the host calls only where the channel has said that it has it. */
  #optional<Name extends keyof Channel, Params, Result>(
    name: Name,
    method: Method<Params, Result>,
    ask: (own: NonNullable<Channel[Name]>, params: Params, signal: AbortSignal) => Promise<Result> | Result,
  ): Handler {
    return this.#asking(method, ({ channel }, params, signal) => {
      const own: unknown = channel[name];
      if (typeof own !== "function") throw new ChannelError("unsupported", `The channel has no ${name}`);
      return ask(own.bind(channel), params, signal);
    });
  }

  get #account(): Opened {
    if (this.#opened === undefined) throw new ChannelError("transient", "The account is not there yet");
    return this.#opened;
  }

  /** An address, which the host knows as text. */
  #decode(to: string): unknown {
    return this.#account.definition.codec.decode(to);
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
