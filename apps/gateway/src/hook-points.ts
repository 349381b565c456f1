import type { ThinkingLevel, ToolOutcome } from "@signalbox/agent-core";
import type { MessageEvent, Outbound } from "@signalbox/channel";
import type { ContextDocument, ExtraSection } from "@signalbox/prompt";
import type { RunEnd } from "./service/live.ts";
import type { RunUsage } from "./service/service.ts";

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

/** What the message carries has been read, and the system prompt of the turn is about to be built. */
export interface BeforePromptBuild extends Place {
  readonly event: MessageEvent;
  /** Pages behind links of the message. Others wrote them. */
  readonly pages: readonly ContextDocument[];
  /** Files attached to it, those that are shown to the model as pictures included. */
  readonly files: readonly ContextDocument[];
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

/**
 * Every point at which a host can hang code of its own, in the order of a message. What hooks are given is a copy that
 * nobody can change: a hook has its say by what it returns.
 */
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

export type Awaitable<T> = T | Promise<T>;
export type Payload<Point extends HookPoint> = HookPoints[Point]["payload"];
export type Change<Point extends ModifyPoint> = HookPoints[Point]["change"];

/** What a gate says; nothing said means `allow`. */
export type GateVerdict =
  | { readonly action: "allow" }
  /** `reason` is told to the model. */
  | { readonly action: "deny"; readonly reason: string };

export interface HookBase {
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
