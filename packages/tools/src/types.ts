import type {
  InputSchema,
  JsonValue,
  ToolCall,
  ToolContext,
  ToolEffects,
  ToolResult,
} from "@signalbox/agent-core";

import type { StandingRule } from "./shell/standing-rules.ts";

/** Who speaks in a run. `system` is the gateway itself: cron, heartbeats. */
export type Role = "owner" | "member" | "guest" | "system";

/** Where untrusted content in a run came from. `person`: someone else who writes to the same agent. */
export type TaintSource =
  | "web"
  | "quote"
  | "forward"
  | "history"
  | "memory"
  | "file"
  | "mcp"
  | "log"
  | "person"
  | "other";

/** One piece of untrusted content that the run has seen. */
export interface TaintMark {
  readonly source: TaintSource;
  /** Names it for people, for instance the URL. */
  readonly detail?: string;
}

/** What policy knows about a run. */
export interface RunFacts {
  readonly agentId: string;
  readonly sessionKey: string;
  /** The weakest role that has spoken in the run. */
  readonly role: Role;
  /** Immutable id of the one person who has spoken in the run; absent if several did, or no one. */
  readonly speaker?: string;
  /** The kind of conversation: `direct`, `group`, `channel`, `api` or any other kind the host distinguishes. */
  readonly channelKind: string;
  /** Empty while nothing untrusted was seen. */
  readonly taint: readonly TaintMark[];
  /** The models that may answer in the run, `provider/model`: the one it began with, and its possible fallbacks. */
  readonly models?: readonly string[];
  /** Names of the tools the parent run may use, in a subagent's run. */
  readonly parentTools?: readonly string[];
}

/**
 * What a call reaches for beyond running its tool; policy looks at it.
 * - `read-identity`, `write-identity`: files that say who the agent is, what it remembers or how it works.
 * - `exec-network`: runs a program that can reach the network.
 * - `message-elsewhere`: writes to another conversation than the current one.
 * - `read-elsewhere`: looks into another conversation than the current one.
 * - `schedule`: changes what runs by itself later.
 * - `fetch-unseen`: fetches an address that stands neither in a message nor on a page of the run: the address itself
 *   may carry what the run knows to whoever asked for it.
 */
export type ClaimKind =
  | "read-identity"
  | "write-identity"
  | "exec-network"
  | "message-elsewhere"
  | "read-elsewhere"
  | "schedule"
  | "fetch-unseen"
  | "read-config"
  | "configure";

export interface Claim {
  readonly kind: ClaimKind;
  /** For people: the path, the target. */
  readonly detail: string;
}

export type Verdict = "allow" | "deny" | "ask";

/** Recorded before a tool body runs, or instead of running it. */
export interface DecisionRecord {
  readonly decision: Verdict;
  /** The rule that decided, for instance `agent.deny`, `role.guest`, `taint.exec-network`, `approval:<id>`. */
  readonly rule: string;
  /** One sentence. */
  readonly reason: string;
  readonly tool: string;
  readonly callId: string;
  /** SHA-256 of the tool's name and arguments, as hexadecimal digits. */
  readonly argsHash: string;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly role: Role;
  readonly channelKind: string;
  readonly taint: readonly TaintMark[];
  readonly claims: readonly Claim[];
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** What a body gets besides its call: proof that it may run, and on what grounds. */
export interface Permit {
  readonly record: DecisionRecord;
  /** A person approved exactly this call. */
  readonly approved: boolean;
  /** What that person was shown. */
  readonly subject?: ApprovalSubject;
  /** The run as it is now: a body that brings in others' words marks that here before it returns. */
  readonly run: { readonly facts: RunFacts; taint(mark: TaintMark): void };
}

/** A file that a command names, relative to the workspace. */
export interface NamedFile {
  readonly path: string;
  /** Of its content, as hexadecimal digits. */
  readonly sha256: string;
}

/** What exactly an approval is for. Shown in full, and bound by its hash. */
export interface ApprovalSubject {
  /** What will run or be done: the script text, the change of a file, or the arguments as JSON. */
  readonly action: string;
  /** Whether the action says what its run may not look up: then only owners are shown it, in private. */
  readonly forOwners?: boolean;
  /** Of the action before characters that cannot be seen were escaped in it; made by the gate. */
  readonly sha256?: string;
  /** Files whose content must be the same when it is done. */
  readonly files?: readonly NamedFile[];
  /** What there is before and after, as digests; absent where that cannot be told. Alike: it is done already. */
  readonly states?: { readonly from: string; readonly to: string };
  /** Hosts that a command would reach. */
  readonly domains?: readonly string[];
  /** Standing rules under which the same would run unasked from now on; absent if there are none. */
  readonly rules?: readonly StandingRule[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Absolute path of the program, links resolved. */
  readonly binary?: string;
}

/** The input of `defineTool`. */
export interface ToolBlueprint<Args = unknown, Details extends JsonValue = JsonValue> {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: InputSchema<Args>;
  readonly effects: ToolEffects;
  readonly execution?: "sequential" | "parallel";
  readonly timeoutMs?: number;
  readonly truncate?: "head" | "head-tail";
  /** What its results, failures too, bring into the run: content that others wrote. */
  readonly taints?: TaintSource;
  /** What the run counts as having seen once this call begins, whatever it does. Called before the decision. */
  exposes?(args: Args, facts: RunFacts): readonly TaintMark[] | Promise<readonly TaintMark[]>;
  /** What this call reaches for. When it throws, the call is denied. */
  claims?(args: Args, facts: RunFacts): readonly Claim[] | Promise<readonly Claim[]>;
  /** What a person would approve. Default: the arguments as JSON. */
  subject?(args: Args, facts: RunFacts): ApprovalSubject | Promise<ApprovalSubject>;
  /** Whether a standing rule lets this call run unasked. Default: no rule can. */
  isCovered?(args: Args, rules: readonly StandingRule[]): Promise<boolean>;
  /**
   * What must happen, in addition to the policy, before the body runs, for instance a person's answer; rejects if it
   * cannot. Such a tool is for runs in which a person can be asked.
   */
  waitsFor?(call: ToolCall<Args>, facts: RunFacts, signal: AbortSignal): Promise<void>;
  /** The body. Only a tool runner can call it, and only with a recorded `allow`. */
  run(call: ToolCall<Args>, context: ToolContext, permit: Permit): Promise<ToolResult<Details>>;
}
