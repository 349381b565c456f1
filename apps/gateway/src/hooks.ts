import { messageOf } from "./errors.ts";
import type {
  Awaitable,
  Change,
  GateHook,
  GatePoint,
  GateVerdict,
  GatewayHook,
  HookBase,
  HookPoint,
  ModifyHook,
  ModifyPoint,
  ObserveHook,
  ObservePoint,
  Payload,
} from "./hook-points.ts";
import { checkedChange, frozenCopy } from "./hook-values.ts";
import type { Logger } from "./log.ts";

/** Calls the hooks of each point as its kind asks for. */
export interface Hooks {
  /** Starts them all and returns at once. */
  observe<Point extends ObservePoint>(point: Point, payload: Payload<Point>): void;
  /** The payload as the hooks leave it. Never rejects. */
  modify<Point extends ModifyPoint>(point: Point, payload: Payload<Point>): Promise<Payload<Point>>;
  /** The first denial, else `allow`. Never rejects. */
  gate<Point extends GatePoint>(point: Point, payload: Payload<Point>): Promise<GateVerdict>;
  /** Whether any code hangs on a point. */
  has(point: HookPoint): boolean;
  /** Resolves when no observer is under way. */
  idle(): Promise<void>;
}

const OBSERVE_MS = 5_000;
const DECIDE_MS = 2_000;
const ALLOW: GateVerdict = { action: "allow" };

type Runner<Point extends HookPoint, Result> = HookBase & {
  run(payload: Payload<Point>, signal: AbortSignal): Awaitable<Result>;
};
type Registry = {
  readonly [Point in ObservePoint]: ObserveHook<Point>[];
} & { readonly [Point in ModifyPoint]: ModifyHook<Point>[] } & {
  readonly [Point in GatePoint]: GateHook<Point>[];
};

/**
 * Makes the registry. Within a point the hooks keep their order, the gateway's `own` before those of the host. Own
 * ones change nothing they are given, so they get no copy of it.
 * @throws TypeError where a hook names a point that does not exist
 */
export function createHooks(
  hooks: readonly GatewayHook[],
  logger: Logger,
  own: readonly GatewayHook[] = [],
): Hooks {
  const registry: Registry = {
    message_received: [],
    before_model_resolve: [],
    before_prompt_build: [],
    before_tool_call: [],
    after_tool_call: [],
    before_reply: [],
    message_sent: [],
    run_end: [],
  };
  for (const hook of [...own, ...hooks]) register(registry, hook);
  const trusted = new WeakSet<HookBase>(own);
  const copyFor = <P>(hook: HookBase, payload: P): P => (trusted.has(hook) ? payload : frozenCopy(payload));
  const underWay = new Set<Promise<void>>();

  const failed = (point: HookPoint, hook: HookBase, error: unknown, what: string): void =>
    logger.error({ hook: hook.name, point, err: messageOf(error) }, what);

  return {
    observe(point, payload) {
      const listeners: readonly Runner<typeof point, void>[] = registry[point];
      for (const hook of listeners) {
        const seen = within(hook, () => copyFor(hook, payload), OBSERVE_MS).catch((error: unknown) =>
          failed(point, hook, error, "a hook failed; nothing depends on it"),
        );
        underWay.add(seen);
        void seen.finally(() => underWay.delete(seen));
      }
    },
    async modify(point, payload) {
      const changers: readonly Runner<typeof point, Change<typeof point> | undefined>[] = registry[point];
      let current = payload;
      for (const hook of changers) {
        try {
          const change = await within(hook, () => copyFor(hook, current), DECIDE_MS);
          if (change !== undefined) current = { ...current, ...checkedChange(point, change) };
        } catch (error) {
          failed(point, hook, error, "a hook failed; its change is left out");
        }
      }
      return current;
    },
    async gate(point, payload) {
      const gates: readonly Runner<typeof point, GateVerdict | undefined>[] = registry[point];
      for (const hook of gates) {
        try {
          const verdict = await within(hook, () => copyFor(hook, payload), DECIDE_MS);
          // Whatever else it says, also where nobody checked its types, is a no.
          if (verdict !== undefined && verdict.action !== "allow")
            return { action: "deny", reason: verdict.reason };
        } catch (error) {
          failed(point, hook, error, "a gate failed, so it denies");
          return { action: "deny", reason: `The check ${hook.name} could not be made.` };
        }
      }
      return ALLOW;
    },
    has: (point) => registry[point].length > 0,
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

function register(registry: Registry, hook: GatewayHook): void {
  switch (hook.point) {
    case "message_received":
      return void registry.message_received.push(hook);
    case "before_model_resolve":
      return void registry.before_model_resolve.push(hook);
    case "before_prompt_build":
      return void registry.before_prompt_build.push(hook);
    case "before_tool_call":
      return void registry.before_tool_call.push(hook);
    case "after_tool_call":
      return void registry.after_tool_call.push(hook);
    case "before_reply":
      return void registry.before_reply.push(hook);
    case "message_sent":
      return void registry.message_sent.push(hook);
    case "run_end":
      return void registry.run_end.push(hook);
    default:
      throw new TypeError(`there is no hook point ${JSON.stringify(Reflect.get(hook, "point"))}`);
  }
}

/** Runs a hook and gives it up when its time is over; its signal ends then. */
async function within<P, R>(
  hook: HookBase & { run(payload: P, signal: AbortSignal): Awaitable<R> },
  payload: () => P,
  defaultMs: number,
): Promise<R> {
  const limit = hook.timeoutMs ?? defaultMs;
  const given = payload();
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`it took longer than ${limit} ms`);
      late.abort(error);
      reject(error);
    }, limit);
  });
  try {
    return await Promise.race([hook.run(given, late.signal), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
