import type { JsonObject } from "@signalbox/agent-core";
import type { MessageAction, MessageDestination, MessageOutcome } from "@signalbox/channel";
import type { Phrases } from "@signalbox/phrases";
import type { Approval, ApprovalStore, Requester } from "../approval-store.ts";
import type { AttachmentSource } from "../attachments.ts";
import type { BuiltInToolsOptions } from "../built-in.ts";
import type { CronRequest } from "../cron.ts";
import type { ToolDefinition } from "../define.ts";
import type { ImageRequest } from "../generate-image.ts";
import type { ImageQuestion } from "../image.ts";
import type { AgentMemory } from "../memory.ts";
import type { AllowRules } from "../persistence/allow-rules.ts";
import type { GetCurrentRights, ToolPolicy } from "../policy.ts";
import type { SessionsCall, SessionsRequest } from "../sessions.ts";
import type { Role, TaintMark } from "../types.ts";
import type { AskUserRequest } from "../user-questions/ask-user.ts";
import type { UserQuestionOutcome } from "../user-questions/user-question.ts";

/**
 * The facts about a run that the toolbox needs. A host adds the facts that its own functions in {@link
 * AgentToolboxOptions} need.
 */
export interface ToolRun {
  /** See `ForRunOptions`. */
  readonly runId?: string;
  readonly agent: { readonly id: string; readonly tools: ToolPolicy };
  readonly sessionKey: string;
  /** Role of the first speaker. */
  readonly role: Role;
  /** Immutable id of the first speaker. */
  readonly speaker: string;
  /** See `RunFacts`. */
  readonly channelKind: string;
  /** See `RunFacts`. */
  readonly groups?: readonly string[] | undefined;
  /** True if people can approve calls and answer questions during the run. */
  readonly canAsk: boolean;
  /** See `RunFacts`. */
  readonly models?: readonly string[];
  /** See `RunFacts`. */
  readonly parentTools?: readonly string[];
  /**
   * Looks up the current rights of the run. Each call is checked against both these rights and the run's initial
   * rights, and the narrower ones apply. Default: rights do not change during the run.
   */
  readonly getCurrentRights?: GetCurrentRights;
}

/**
 * Decides whether a run may send a file or a page, using the same rules as for reading it, and records the decision.
 */
export type MayAttach = (
  source: AttachmentSource,
) => Promise<{ readonly ok: true } | { readonly ok: false; readonly why: string }>;

/** Functions that a host provides to the tools of its agents. */
export interface AgentToolboxOptions<Run extends ToolRun> {
  /** Returns the folders in which an agent's tools work. */
  readonly folders: (agent: Run["agent"]) => Pick<BuiltInToolsOptions, "workspace">;
  /** Returns an agent's memory. Default: none, and the memory tools do not exist. */
  readonly memory?: (agent: Run["agent"]) => AgentMemory | undefined;
  readonly sandbox: BuiltInToolsOptions["sandbox"];
  /** Returns the hosts that an agent's commands may reach if the policy allows it. Default: none. */
  readonly domains?: (agent: Run["agent"]) => readonly string[];
  /** Returns additional environment variables for an agent's commands. Called before each command. Default: none. */
  readonly environment?: (agent: Run["agent"]) => Promise<Readonly<Record<string, string>>>;
  /**
   * Sanitizes every string of a tool result, for example by removing secrets, before a model or viewer receives it.
   * Default: no change.
   */
  readonly cleanText?: (text: string) => string;
  /** See {@link BuiltInToolsOptions.fitImage}. */
  readonly fitImage?: BuiltInToolsOptions["fitImage"];
  readonly fetch: BuiltInToolsOptions["fetch"];
  /**
   * Returns the service that `web_search` uses. Called when an agent's tools are created. Default: the tool does not
   * exist.
   */
  readonly webSearch?: () => BuiltInToolsOptions["webSearch"];
  /** Returns an agent's browser. Called when its tools are created. Default: the `browser_*` tools do not exist. */
  readonly browser?: (agent: Run["agent"]) => BuiltInToolsOptions["browser"];
  /**
   * Returns the function that sends an image to a vision model. Called when an agent's tools are created. Default: the
   * tool `image` does not exist.
   */
  readonly describeImage?: () => DescribeImage<Run> | undefined;
  /**
   * Returns the function that generates an image. Called when an agent's tools are created. Default: the tool
   * `generate_image` does not exist.
   */
  readonly generateImage?: () => ImageGeneration<Run> | undefined;
  /** Implements the tool `gateway`. Default: the tool does not exist. */
  readonly gateway?: BuiltInToolsOptions["gateway"];
  /** Handles the requests of the tool `message`. */
  readonly send: (
    action: MessageAction,
    run: Run & { readonly mayAttach: MayAttach; readonly isVisible: (path: string) => boolean },
    call: { readonly callId: string; readonly signal: AbortSignal },
  ) => Promise<MessageOutcome>;
  /** Returns true if a destination of the tool `message` is the run's own conversation. Default: always false. */
  readonly isCurrent?: (destination: MessageDestination, run: Run) => boolean;
  /** Handles the requests of the tool `cron`. Default: the tool does not exist. */
  readonly cron?: (request: CronRequest, run: Run, call: { readonly callId: string }) => Promise<string>;
  /**
   * Sends a question to the person whom the run works for. See `AskUserToolOptions`. Default: the tool `ask_user` does
   * not exist.
   */
  readonly askUser?: (
    request: AskUserRequest,
    run: Run,
    call: { readonly callId: string; readonly signal: AbortSignal },
  ) => Promise<UserQuestionOutcome>;
  /** Handles the requests of the `sessions_*` tools. Default: these tools do not exist. */
  readonly sessions?: (
    request: SessionsRequest,
    run: Run & { readonly offered: readonly string[] },
    call: SessionsCall,
  ) => Promise<string>;
  /** Returns additional tools. Called before each run. Default: none. */
  readonly more?: (agent: Run["agent"]) => Promise<MoreTools>;
  /** Stores approval requests. */
  readonly approvals: ApprovalStore;
  /** Asks people for an approval. */
  readonly prompt: (approval: Approval, run: Run) => Promise<void>;
  /** Called after each decision by a person. */
  readonly onDecided?: (approval: Approval, approver: string) => void;
  /** Called for each approval request that expired without a decision. */
  readonly onExpired?: (approval: Approval) => void;
  /** Returns the language of the reasons in approval requests. Default: English. */
  readonly getPhrases?: (run: Run) => Phrases;
  /** Returns the person and the conversation that approval requests name. Default: none. */
  readonly getRequester?: (run: Run) => Requester;
  /** The commands that run without approval in the mode `unlisted`. Default: none. */
  readonly allowRules?: AllowRules;
  /** Runs the host's hooks. Called before every decision. */
  readonly beforeCall: (call: HookedCall) => Promise<HookVerdict>;
  /** Records a decision. If it throws, the call does not run. */
  readonly record: (run: Run, text: string, decision: RecordedDecision) => void;
  /** Returns the current time, in milliseconds since the epoch. */
  readonly now: () => number;
}

/** Asks a vision model a question about an image on behalf of a run. */
export type DescribeImage<Run> = (image: ImageQuestion, run: Run, signal: AbortSignal) => Promise<string>;

/** Generates an image on behalf of a run. */
type ImageGeneration<Run> = (request: ImageRequest, run: Run, signal: AbortSignal) => Promise<Uint8Array>;

/** A decision in the form in which a host records it. */
interface RecordedDecision {
  /** The tool name, or `attach` for an attachment to a reply. */
  readonly tool: string;
  readonly decision: "allow" | "ask" | "deny";
  readonly rule: string;
  readonly call?: string;
}

/** Tools that are not built in: the host's own tools, and tools from packages and servers. */
export interface MoreTools {
  readonly tools: readonly ToolDefinition[];
  /** Taint of the runs that see these tools, if the tool descriptions were not reviewed. Default: none. */
  readonly taint?: readonly TaintMark[];
}

interface HookedCall {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly tool: string;
  readonly callId: string;
  readonly args: unknown;
}

/** Changed arguments are validated against the tool's schema and checked against the policy before the tool runs. */
export type HookVerdict =
  | { readonly action: "allow"; readonly args?: JsonObject }
  | { readonly action: "deny"; readonly reason: string };
