import type { JsonValue, Tool, ToolCall, ToolContext, ToolOutput } from "@signalbox/agent-core";
import type { Role } from "@signalbox/store/types";
import { z } from "zod";
import type { AllowRule } from "./shell/allow-rule.ts";

export type { Role } from "@signalbox/store/types";

const TAINT_SOURCES = [
  "web",
  "quote",
  "forward",
  "history",
  "memory",
  "file",
  "mcp",
  "log",
  "person",
  "other",
] as const;

/** Origin of untrusted content in a run. `person` is another person who writes to the same agent. */
export type TaintSource = (typeof TAINT_SOURCES)[number];

/** Validates a stored taint source. */
export const taintSourceSchema: z.ZodType<TaintSource> = z.enum(TAINT_SOURCES);

/** A piece of untrusted content that a run has read. */
export interface TaintMark {
  readonly source: TaintSource;
  /** A description of the content for people, for example its URL. */
  readonly detail?: string;
}

/** The facts about a run that policy decisions use. */
export interface RunFacts {
  readonly agentId: string;
  readonly sessionKey: string;
  /** The weakest role of all speakers in the run. */
  readonly role: Role;
  /** Immutable id of the only person who has spoken in the run. Absent if there were several speakers or none. */
  readonly speaker?: string;
  /** The kind of conversation: `direct`, `group`, `channel`, `api`, or another kind that the host distinguishes. */
  readonly channelKind: string;
  /** Ids of the group of the run as `channel:id`, and then those of its parent. Absent in direct conversations. */
  readonly groups?: readonly string[] | undefined;
  /** Empty if the run has not read any untrusted content. */
  readonly taint: readonly TaintMark[];
  /** The models that may answer in the run, as `provider/model`: the first model and its fallbacks. */
  readonly models?: readonly string[];
  /** In a sub-agent's run, the names of the tools that the parent run may use. */
  readonly parentTools?: readonly string[];
}

/**
 * The access of a call that needs a decision beyond the tool's name:
 * - `read_identity`, `write_identity`: files that define who the agent is, what it remembers or how it works.
 * - `forget_memory`: deleting memory entries that are not the speaker's own, or an owner's.
 * - `exec_network`: a program that can reach the network.
 * - `message_elsewhere`: writing to another conversation.
 * - `read_elsewhere`: reading another conversation.
 * - `schedule`: changing what runs later.
 * - `fetch_unseen`: an address that appeared in no message and on no page of the run. The address itself can send
 *   information from the run to its server.
 * - `operate_page`: clicking, typing and other actions in a browser, which may be signed in somewhere.
 * - `save_download`: storing a file that a page offered.
 * - `read_config`, `configure`: reading and changing the host's configuration.
 */
export type ClaimKind =
  | "read_identity"
  | "write_identity"
  | "forget_memory"
  | "exec_network"
  | "message_elsewhere"
  | "read_elsewhere"
  | "schedule"
  | "fetch_unseen"
  | "operate_page"
  | "save_download"
  | "read_config"
  | "configure";

export interface Claim {
  readonly kind: ClaimKind;
  /** The path or target, for people. */
  readonly detail: string;
}

export type Verdict = "allow" | "deny" | "ask";

/** A decision about a call. It is recorded before the tool runs, or instead of running it. */
export interface DecisionRecord {
  readonly decision: Verdict;
  /**
   * Code of the rule that led to the decision, for example `agent_deny`, `role_allow:guest`, `taint_exec_network` or
   * `approval:<id>`.
   */
  readonly rule: string;
  /** The reason in one sentence. */
  readonly reason: string;
  readonly tool: string;
  readonly callId: string;
  /** SHA-256 of the tool's name and arguments in hexadecimal. */
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

/** Proof that a call may run. Passed to the tool's `run`. */
export interface Permit {
  readonly record: DecisionRecord;
  /** True if a person approved exactly this call. */
  readonly approved: boolean;
  /** The content that the person approved. */
  readonly subject?: ApprovalSubject;
  /** The run. A tool that returns untrusted content calls `taint` before it returns. */
  readonly run: { readonly facts: RunFacts; taint(mark: TaintMark): void };
}

/** A file that a command names. */
export interface NamedFile {
  /** Relative to the workspace. */
  readonly path: string;
  /** SHA-256 of its content in hexadecimal. */
  readonly sha256: string;
}

/** The content that a person approves. It is shown in full, and the approval is bound to its hash. */
export interface ApprovalSubject {
  /** The script, the change to a file, or the arguments as JSON. */
  readonly action: string;
  /**
   * True if the action contains something that the run may not read. The action is then shown only to owners, in
   * private.
   */
  readonly forOwners?: boolean;
  /** SHA-256 of the action before invisible characters were escaped. Set when the approval is requested. */
  readonly sha256?: string;
  /** Files whose content must not change before the call runs. */
  readonly files?: readonly NamedFile[];
  /** Digests of the state before and after the call, if known. If they are equal, the call has already taken effect. */
  readonly states?: { readonly from: string; readonly to: string };
  /** Hosts that a command may reach. */
  readonly domains?: readonly string[];
  /** Allow rules that `allow-always` creates. Absent if no rules can express the call. */
  readonly rules?: readonly AllowRule[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Absolute path of the program, with links resolved. */
  readonly binary?: string;
  /**
   * Fields that are the same for every call of the tool, because the configuration sets them. The short form of a
   * request omits them.
   */
  readonly usual?: readonly ("binary" | "cwd" | "env")[];
}

/** The input for `defineTool`: a tool of `@signalbox/agent-core` with additional methods for policy decisions. */
export interface ToolBlueprint<Args = unknown, Details extends JsonValue = JsonValue>
  extends Omit<Tool<Args, Details>, "execute"> {
  /** Taints the run after each call, including failed ones. Set this for tools whose results other people write. */
  readonly taints?: TaintSource;
  /** Returns the untrusted content that the run reads by making the call. Called before the decision. */
  exposes?(args: Args, facts: RunFacts): readonly TaintMark[] | Promise<readonly TaintMark[]>;
  /** Returns the claims of the call. If it throws, the call is denied. */
  claims?(args: Args, facts: RunFacts): readonly Claim[] | Promise<readonly Claim[]>;
  /** Returns the content of an approval request. Default: the arguments as JSON. */
  subject?(args: Args, facts: RunFacts): ApprovalSubject | Promise<ApprovalSubject>;
  /** Returns true if an allow rule covers the call, so it runs without approval. Default: false. */
  isCovered?(args: Args, rules: readonly AllowRule[]): Promise<boolean>;
  /**
   * Waits for a condition in addition to the policy decision, for example a person's answer. Rejects if the condition
   * cannot be met. A tool with this method is offered only in runs in which people can answer questions.
   */
  waitsFor?(call: ToolCall<Args>, facts: RunFacts, signal: AbortSignal): Promise<void>;
  /**
   * Runs the tool. Only a tool runner can call this method, after recording the decision `allow`.
   *
   * @param call id, name and validated arguments
   * @param context signal, maximum length of the result, and a function for progress reports
   * @param permit the decision, and the run that the result may taint
   * @returns a result, a string, or any other JSON value, which the model receives as JSON. A thrown error becomes a
   * failed result.
   */
  run(call: ToolCall<Args>, context: ToolContext, permit: Permit): Promise<ToolOutput<Details>>;
}
