import type { Channel, ChannelContext, Health, Identity } from "../contract/definition.ts";
import { type Activity, createActivity } from "./activity.ts";
import { trackRequests } from "./request-phase.ts";

/** Services that `hostedChannel` provides to an account. */
export interface HostedAccount<Config> {
  /**
   * The host's context with two changes: `emit` rejects events after `stop`, and errors of `fetch` identify requests
   * that were not sent (see `failedToConnect`).
   */
  readonly context: ChannelContext<Config>;
  readonly activity: Activity;
  /**
   * Fires when the account is stopped or taken down. Ends loops and pauses, but not the operations that `stop` waits
   * for.
   */
  readonly stopped: AbortSignal;
}

/** The methods of a channel that are not part of its life cycle. */
export type ChannelMethods<Address> = Omit<Channel<Address>, "start" | "stop" | "health" | "self">;

/** The parts of an account that differ between platforms. */
export interface AccountParts<Methods> {
  /** Connects to the platform. Called once. */
  start?(signal: AbortSignal): Promise<void>;
  /** Called after `start`, unless the account has been stopped. Starts background tasks. */
  ready?(): void;
  /** Closes connections and clears timers. Called by `stop`, when `start` fails, and when `start` ends after `stop`. */
  disconnect?(): void;
  /** Stores state and releases resources. Called by the first `stop`, after the operations in progress have ended. */
  close?(): Promise<void>;
  /** Returns the health of the connection, if the account has one. */
  connection?(): Health | undefined;
  /** Returns the bot once it is known. */
  self(): Identity | undefined;
  readonly methods: Methods;
}

type LifeCycle = Pick<Channel, "start" | "stop" | "health" | "self">;

/** Calls that may succeed without a request to the platform. Their success does not prove that the account works. */
const LOCAL: readonly string[] = ["webhook", "typing", "openDirect", "openDraft", "resolve"];

/**
 * Implements the life cycle that accounts of a remote platform share: `start` and `stop` in any order, health, and
 * draining. Every method is counted as work in progress until it ends. An error of the whole account makes `health`
 * `degraded` until a call succeeds. After `stop`, webhooks are answered with 503 and events are rejected.
 *
 * @example
 * ```ts
 * export function createMine(context: ChannelContext<Config>): MineChannel {
 *   return hostedChannel(context, ({ context, stopped }) => {
 *     const api = createApi(context);
 *     return {
 *       start: (signal) => api.connect(signal),
 *       disconnect: () => api.disconnect(),
 *       self: () => api.bot,
 *       methods: { send: (to, message, options) => api.send(to, message, options) },
 *     };
 *   });
 * }
 * ```
 */
export function hostedChannel<Config, Methods extends object>(
  context: ChannelContext<Config>,
  open: (account: HostedAccount<Config>) => AccountParts<Methods>,
): LifeCycle & Methods {
  const activity = createActivity(context.clock);
  const lifetime = new AbortController();
  const stopped = AbortSignal.any([lifetime.signal, context.signal]);
  let state: "starting" | "ready" | "stopped" = "starting";

  const account = open({
    context: {
      ...context,
      emit: async (event) => (stopped.aborted ? "rejected" : context.emit(event)),
      fetch: trackRequests(context.fetch),
    },
    activity,
    stopped,
  });

  return {
    async start(signal) {
      signal.throwIfAborted();
      if (state !== "starting") return;
      try {
        await account.start?.(signal);
      } catch (error) {
        account.disconnect?.();
        throw error;
      }
      if (state !== "starting") return account.disconnect?.();
      state = "ready";
      account.ready?.();
    },
    async stop({ drainMs }) {
      const isFirst = state !== "stopped";
      state = "stopped";
      lifetime.abort();
      account.disconnect?.();
      await activity.ended(drainMs);
      if (isFirst) await account.close?.().catch(() => {});
    },
    health: () => activity.health(state, account.connection?.()),
    self: () => account.self(),
    ...tracked(account.methods, activity, stopped),
  };
}

function tracked<Methods extends object>(
  methods: Methods,
  activity: Activity,
  stopped: AbortSignal,
): Methods {
  const wrap = (name: string, method: (...parameters: unknown[]) => Promise<unknown>) => {
    const call = async (...parameters: unknown[]) => method.apply(methods, parameters);
    if (name === "webhook")
      return (...parameters: unknown[]) =>
        stopped.aborted ? Promise.resolve(notNow()) : activity.count(call(...parameters));
    if (name === "openDraft")
      return async (...parameters: unknown[]) =>
        activity.draft((await activity.count(call(...parameters))) as Parameters<Activity["draft"]>[0]);
    const track = LOCAL.includes(name) ? activity.count : activity.track;
    return (...parameters: unknown[]) => track(call(...parameters));
  };
  return Object.fromEntries(
    Object.entries(methods).map(([name, method]) => [name, wrap(name, method)]),
  ) as Methods;
}

/** Creates the response that makes the platform deliver its event again. */
function notNow(): Response {
  return Response.json({ error: "not now" }, { status: 503, headers: { "retry-after": "15" } });
}
