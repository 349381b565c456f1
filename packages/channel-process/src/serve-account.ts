import { isDeepStrictEqual } from "node:util";
import {
  type Channel,
  type ChannelContext,
  type ChannelDefinition,
  ChannelError,
  type ChannelLogger,
  type Draft,
  type Json,
  type MediaPart,
  type Outbound,
  type PartReceipt,
  systemClock,
} from "@signalbox/channel";
import { findDefinition, permitRequests } from "@signalbox/channel/accounts";
import { ByteStreams, readRemote } from "./byte-streams.ts";
import type { AccountFunctions, HostFunctions, SendParameters } from "./functions.ts";
import { connect, type Port, type Rpc } from "./rpc.ts";

/** Interval between checks of the channel's status, in milliseconds. */
const STATUS_MS = 500;
/** Interval between reports of an unchanged status, in milliseconds. */
const HEARTBEAT_MS = 5_000;

type Created = Omit<Parameters<AccountFunctions["create"]>[0], "module" | "channel">;

type Offered = {
  [Name in keyof AccountFunctions]: (
    parameter: Parameters<AccountFunctions[Name]>[0],
    signal: AbortSignal,
  ) => ReturnType<AccountFunctions[Name]> | Promise<ReturnType<AccountFunctions[Name]>>;
};

/** Serves one account to the process at the other end of the port. Returns a function that stops it. */
export function serveAccount(port: Port): () => void {
  const account = new ServedAccount(port);
  return () => account.end();
}

class ServedAccount {
  readonly #rpc: Rpc<HostFunctions>;
  readonly #lifetime = new AbortController();
  readonly #streams = new ByteStreams();
  readonly #drafts = new Map<number, { readonly draft: Draft; readonly halt: AbortController }>();
  readonly #timers: readonly NodeJS.Timeout[];
  #draftCount = 0;
  #created: { readonly definition: ChannelDefinition; readonly channel: Channel } | undefined;
  #reported: unknown;

  constructor(port: Port) {
    const functions = { ...this.#functions(), ...this.#draftFunctions() } satisfies Offered;
    this.#rpc = connect(
      port,
      reporting(functions, () => this.#reportStatus()),
      () => {},
    );
    this.#timers = [
      setInterval(() => this.#reportStatus(), STATUS_MS).unref(),
      setInterval(() => this.#heartbeat(), HEARTBEAT_MS).unref(),
    ];
  }

  end(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#lifetime.abort();
    this.#rpc.close(new Error("The gateway has ended"));
  }

  #functions() {
    return {
      create: async ({ module, channel: id, ...given }) => {
        const definition = findDefinition(await import(module), id);
        if (definition === undefined) throw new Error(`${module} exports no channel ${id} of version 1`);
        const channel = await definition.create(this.#context(given));
        this.#created = { definition, channel };
        const methods = Object.entries(channel).filter(([, value]) => typeof value === "function");
        return { methods: methods.map(([name]) => name) };
      },
      start: (_, signal) => this.#channel.start(AbortSignal.any([signal, this.#lifetime.signal])),
      stop: (options) => this.#channel.stop(options),
      webhook: async ({ method, url, headers, body }) => {
        const hasBody = method !== "GET" && method !== "HEAD";
        const request = new Request(url, { method, headers, body: hasBody ? new Uint8Array(body) : null });
        const response = await this.#method("webhook")(request, async () => body);
        return {
          status: response.status,
          headers: [...response.headers],
          body: new Uint8Array(await response.arrayBuffer()),
        };
      },
      send: ({ to, ...parameters }, signal) =>
        this.#channel.send(this.#decode(to), parameters.message, {
          ...this.#sendOptions(parameters),
          signal,
        }),
      forward: async ({ method, to, parameters }, signal) => {
        const call: (...all: unknown[]) => unknown = this.#method(method) as never;
        const result = await call(...(to === undefined ? [] : [this.#decode(to)]), ...parameters, signal);
        if (method === "openDirect") return this.#definition.codec.encode(result);
        if (method !== "fetchMedia") return result;
        const { body, ...media } = result as { readonly body: ReadableStream<Uint8Array> };
        return { ...media, stream: this.#streams.add(body) };
      },
      history: ({ to, ...options }, signal) =>
        this.#method("history")(this.#decode(to), { ...options, signal }),
      reconcile: ({ to, ...intent }, signal) =>
        this.#method("reconcile")({ ...intent, to: this.#decode(to) }, signal),
      readStream: (id) => this.#streams.read(id),
      cancelStream: (id) => this.#streams.cancel(id),
    } satisfies Partial<Offered>;
  }

  #draftFunctions() {
    return {
      openDraft: async ({ to, ...options }) => {
        const halt = new AbortController();
        const signal = AbortSignal.any([halt.signal, this.#lifetime.signal]);
        const draft = await this.#method("openDraft")(this.#decode(to), { ...options, signal });
        const id = this.#draftCount++;
        this.#drafts.set(id, { draft, halt });
        return id;
      },
      updateDraft: async ({ draft: id, snapshot }) => {
        const { draft } = this.#drafts.get(id) ?? {};
        await draft?.update(snapshot);
        return draft?.messageId;
      },
      finalizeDraft: async ({ draft: id, ...parameters }) => {
        const { draft } = this.#drafts.get(id) ?? {};
        if (draft === undefined) throw new ChannelError("invalid", "The draft has ended");
        const receipt = await draft.finalize(parameters.message, this.#sendOptions(parameters));
        this.#drafts.delete(id);
        return receipt;
      },
      prolongDraft: async (id) => this.#drafts.get(id)?.draft.prolong?.(),
      abortDraft: async (id) => {
        await this.#drafts.get(id)?.draft.abort();
        this.#drafts.delete(id);
      },
      haltDraft: (id) => {
        this.#drafts.get(id)?.halt.abort();
        this.#drafts.delete(id);
      },
    } satisfies Partial<Offered>;
  }

  get #channel(): Channel {
    if (this.#created === undefined) throw new ChannelError("transient", "The account is not created yet");
    return this.#created.channel;
  }

  get #definition(): ChannelDefinition {
    if (this.#created === undefined) throw new ChannelError("transient", "The account is not created yet");
    return this.#created.definition;
  }

  /** Returns an optional method of the channel. */
  #method<Name extends keyof Channel>(name: Name): NonNullable<Channel[Name]> {
    const method: unknown = this.#channel[name];
    if (typeof method !== "function") throw new ChannelError("unsupported", `The channel has no ${name}`);
    return method.bind(this.#channel);
  }

  #decode(to: string): unknown {
    return this.#definition.codec.decode(to);
  }

  #sendOptions({ sending, message, idempotencyKey, startAt, hasMedia }: SendParameters) {
    const openMedia = async (part: MediaPart): Promise<ReadableStream<Uint8Array>> => {
      const stream = await this.#rpc.call("openMedia", { sending, index: indexOf(part, message) });
      return readRemote(this.#rpc, stream, (chunk) => chunk as Uint8Array<ArrayBuffer> | undefined);
    };
    return {
      idempotencyKey,
      startAt,
      onPart: (part: PartReceipt) => this.#rpc.call("partSent", { sending, part }),
      openMedia: hasMedia ? openMedia : undefined,
    };
  }

  #context({ asksToRequest, ...given }: Created): ChannelContext {
    const rpc = this.#rpc;
    // Without an answer of the gateway, this process cannot know who does its work.
    const mayRequest = (): Promise<boolean> => rpc.call("mayRequest", undefined).catch(() => false);
    const log =
      (level: keyof ChannelLogger): ChannelLogger[typeof level] =>
      (message, fields) =>
        void rpc.call("log", { level, message, fields: asJson(fields) }).catch(() => {});
    return {
      ...given,
      logger: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") },
      emit: (event) => rpc.call("emit", asJson(event)),
      fetch: asksToRequest ? permitRequests(globalThis.fetch, mayRequest) : globalThis.fetch,
      clock: systemClock,
      cache: {
        get: (key) => rpc.call("cacheGet", key),
        set: (key, value, ttlMs) => rpc.call("cacheSet", { key, value: asJson(value), ttlMs }),
      },
      state: {
        get: (key) => rpc.call("stateGet", key),
        set: (key, value) => rpc.call("stateSet", { key, value: asJson(value) }),
        delete: (key) => rpc.call("stateDelete", key),
      },
      signal: this.#lifetime.signal,
    };
  }

  #heartbeat(): void {
    this.#reported = undefined;
    this.#reportStatus();
  }

  #reportStatus(): void {
    if (this.#created === undefined) return;
    const { channel } = this.#created;
    const status = { health: channel.health(), self: channel.self() };
    if (isDeepStrictEqual(status, this.#reported)) return;
    this.#reported = status;
    this.#rpc.call("reportStatus", status).catch(() => {});
  }
}

/**
 * Reports the status before each function returns, so that the gateway never receives a result with an outdated status.
 */
function reporting(functions: Offered, report: () => void): Parameters<typeof connect>[1] {
  return Object.fromEntries(
    Object.entries(functions).map(([name, run]) => [
      name,
      async (parameter: never, signal: AbortSignal) => {
        try {
          return await run(parameter, signal);
        } finally {
          report();
        }
      },
    ]),
  );
}

/** Returns the index of a media part, which a channel may have copied. */
function indexOf(part: MediaPart, { parts }: Outbound): number {
  const index = parts.indexOf(part);
  return index >= 0 ? index : parts.findIndex((one) => isDeepStrictEqual(one, part));
}

/** Drops values that JSON cannot represent, such as properties that are `undefined`. */
function asJson<Value extends Json | object | undefined>(value: Value): Value {
  return value === undefined ? value : JSON.parse(JSON.stringify(value));
}
