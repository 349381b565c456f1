import type { ThinkingLevel, ToolOutcome } from "@signalbox/agent-core";
import type { MessageEvent, Outbound } from "@signalbox/channel";
import type { ExtraSection } from "@signalbox/prompt";
import { messageOf } from "./errors.ts";
import type { RunEnd } from "./live.ts";
import type { Logger } from "./log.ts";
import type { RunUsage } from "./service.ts";

/** Where something happens. */
interface Place {
  readonly agentId: string;
  readonly sessionKey: string;
}

interface Observed<Payload> {
  readonly kind: "observe";
  readonly payload: Payload;
}

interface Modified<Payload, Change extends keyof Payload> {
  readonly kind: "modify";
  readonly payload: Payload;
  readonly change: Partial<Pick<Payload, Change>>;
}

interface Gated<Payload> {
  readonly kind: "gate";
  readonly payload: Payload;
}

/** A message was committed to the inbox. */
export interface MessageReceived extends Place {
  /** The gateway's own id of it. */
  readonly messageId: string;
  readonly event: MessageEvent;
  /** `answer` goes on to the agent; the others end here. */
  readonly decision: "answer" | "pair" | "keep" | "ignore";
  /** The rule that decided so. */
  readonly rule: string;
}

/** A turn is about to be given its model. */
export interface BeforeModelResolve extends Place {
  /** The last message of the turn. */
  readonly event: MessageEvent;
  /** `provider/model` that a directive or the session asks for; absent: the agent's own. One that cannot be reached is passed over. */
  readonly model: string | undefined;
  readonly thinking: ThinkingLevel;
}

/** The system prompt of a turn is about to be built. */
export interface BeforePromptBuild extends Place {
  readonly event: MessageEvent;
  /** `provider/model` that will read it. */
  readonly model: string;
  /** What a client of the API wants heeded in this turn. */
  readonly instructions: string | undefined;
  /** Sections added to the built-in ones; names are unique. `stable` ones that change from turn to turn break prompt caches. */
  readonly extra: readonly ExtraSection[];
}

/** A tool call with checked arguments is about to be decided by policy. */
export interface BeforeToolCall extends Place {
  readonly tool: string;
  readonly callId: string;
  readonly args: unknown;
}

/** A tool call has its result. */
export interface AfterToolCall extends Place {
  readonly runId: string;
  readonly tool: string;
  readonly callId: string;
  readonly args: unknown;
  readonly outcome: ToolOutcome;
  /** What the model was told. */
  readonly text: string;
  readonly durationMs: number;
}

/** A reply is about to be committed. */
export interface BeforeReply extends Place {
  /** The message being answered. */
  readonly event: MessageEvent;
  /** A turn of the agent, or the answer to a slash command. */
  readonly source: "turn" | "command";
  /** Empty says nothing, and takes away what was to be attached to it. What was streamed to a viewer before cannot be taken back. */
  readonly text: string;
}

/** A reply is out: its platform has taken it, or it was shown to the gateway's own client. */
export interface MessageSent {
  readonly channel: string;
  readonly account: string;
  /** The channel's encoded address. */
  readonly address: string;
  readonly sessionKey: string | undefined;
  readonly runId: string | undefined;
  readonly message: Outbound;
}

/** A turn ended, its end committed. */
export interface RunEnded extends Place {
  readonly runId: string;
  /** The platforms' ids of the messages it dealt with. */
  readonly messageIds: readonly string[];
  readonly outcome: RunEnd;
  readonly usage: RunUsage | undefined;
  readonly error: { readonly code: string; readonly message: string } | undefined;
}

/** Every point at which a host can hang code of its own, in the order of a message. */
export interface HookPoints {
  readonly message_received: Observed<MessageReceived>;
  readonly before_model_resolve: Modified<BeforeModelResolve, "model" | "thinking">;
  readonly before_prompt_build: Modified<BeforePromptBuild, "extra">;
  readonly before_tool_call: Gated<BeforeToolCall>;
  readonly after_tool_call: Observed<AfterToolCall>;
  readonly before_reply: Modified<BeforeReply, "text">;
  readonly message_sent: Observed<MessageSent>;
  readonly run_end: Observed<RunEnded>;
}

export type HookPoint = keyof HookPoints;
type PointOf<Kind extends HookPoints[HookPoint]["kind"]> = {
  [Point in HookPoint]: HookPoints[Point]["kind"] extends Kind ? Point : never;
}[HookPoint];
export type ObservePoint = PointOf<"observe">;
export type ModifyPoint = PointOf<"modify">;
export type GatePoint = PointOf<"gate">;

/** The kind of each point, which decides how its hooks are called. */
export const HOOK_KINDS: { readonly [Point in HookPoint]: HookPoints[Point]["kind"] } = {
  message_received: "observe",
  before_model_resolve: "modify",
  before_prompt_build: "modify",
  before_tool_call: "gate",
  after_tool_call: "observe",
  before_reply: "modify",
  message_sent: "observe",
  run_end: "observe",
};

type Awaitable<T> = T | Promise<T>;
type Payload<Point extends HookPoint> = HookPoints[Point]["payload"];
type Change<Point extends ModifyPoint> = HookPoints[Point]["change"];

/** What a gate says; nothing said means `allow`. */
export type GateVerdict =
  | { readonly action: "allow" }
  /** `reason` is told to the model. */
  | { readonly action: "deny"; readonly reason: string };

interface HookBase {
  /** For the log. */
  readonly name: string;
  /** Milliseconds it may take; default 5,000 to observe, 2,000 to modify and for a gate. */
  readonly timeoutMs?: number;
}

/** Sees what happened; nothing waits for it, and its errors are logged. */
export interface ObserveHook<Point extends ObservePoint> extends HookBase {
  readonly point: Point;
  run(payload: Payload<Point>, signal: AbortSignal): Awaitable<void>;
}

/** Changes what comes next, in the order of registration; one that fails or is late changes nothing. */
export interface ModifyHook<Point extends ModifyPoint> extends HookBase {
  readonly point: Point;
  run(payload: Payload<Point>, signal: AbortSignal): Awaitable<Change<Point> | undefined>;
}

/** Lets pass or not, in the order of registration; one that fails or is late denies. */
export interface GateHook<Point extends GatePoint> extends HookBase {
  readonly point: Point;
  run(payload: Payload<Point>, signal: AbortSignal): Awaitable<GateVerdict | undefined>;
}

/** Code of a host at one point. */
export type GatewayHook =
  | { [Point in ObservePoint]: ObserveHook<Point> }[ObservePoint]
  | { [Point in ModifyPoint]: ModifyHook<Point> }[ModifyPoint]
  | { [Point in GatePoint]: GateHook<Point> }[GatePoint];

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
 * Makes the registry. Within a point the hooks keep their order.
 * @throws TypeError where a hook names a point that does not exist
 */
export function createHooks(hooks: readonly GatewayHook[], logger: Logger): Hooks {
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
  for (const hook of hooks) register(registry, hook);
  const underWay = new Set<Promise<void>>();

  const failed = (point: HookPoint, hook: HookBase, error: unknown, what: string): void =>
    logger.error({ hook: hook.name, point, err: messageOf(error) }, what);

  return {
    observe(point, payload) {
      const listeners: readonly Runner<typeof point, void>[] = registry[point];
      for (const hook of listeners) {
        const seen = within(hook, payload, OBSERVE_MS).catch((error: unknown) =>
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
          const change = await within(hook, current, DECIDE_MS);
          if (change !== undefined) current = { ...current, ...change };
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
          const verdict = await within(hook, payload, DECIDE_MS);
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
  payload: P,
  defaultMs: number,
): Promise<R> {
  const limit = hook.timeoutMs ?? defaultMs;
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
    return await Promise.race([hook.run(payload, late.signal), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
