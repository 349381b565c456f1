import type { JsonObject } from "@signalbox/agent-core";
import type { MessageAction, MessageDestination, MessageOutcome } from "@signalbox/channel";
import type { Phrases } from "@signalbox/phrases";
import type { Approval, ApprovalStore } from "../approval-store.ts";
import type { AttachmentSource } from "../attachments.ts";
import type { BuiltInToolsOptions } from "../built-in.ts";
import type { CronRequest } from "../cron.ts";
import type { ToolDefinition } from "../define.ts";
import type { PictureQuestion } from "../image.ts";
import type { LooksUpInForce } from "../in-force.ts";
import type { AgentMemory } from "../memory.ts";
import type { ToolPolicy } from "../policy.ts";
import type { SessionsCall, SessionsRequest } from "../sessions.ts";
import type { StandingRule } from "../shell/standing-rules.ts";
import type { Role, TaintMark } from "../types.ts";
import type { AskUserRequest } from "../user-questions/ask-user.ts";
import type { UserQuestionOutcome } from "../user-questions/user-question.ts";

/** A run from its tools' point of view. A host adds what its own functions in {@link ToolboxOptions} need. */
export interface ToolRun {
  /** See `ForRunOptions`. */
  readonly runId?: string;
  readonly agent: { readonly id: string; readonly tools: ToolPolicy };
  readonly sessionKey: string;
  /** The role of the first speaker. */
  readonly role: Role;
  /** The first speaker, by an id that never changes. */
  readonly speaker: string;
  /** See `RunFacts`. */
  readonly channelKind: string;
  /** Whether a person can decide a question during the run. */
  readonly canAsk: boolean;
  /** See `RunFacts`. */
  readonly models?: readonly string[];
  /** See `RunFacts`. */
  readonly parentTools?: readonly string[];
  /**
   * What applies to the run now: each call is decided by the narrower of this and what the run began with. Default:
   * nothing changes during the run.
   */
  readonly inForce?: LooksUpInForce;
}

/** Whether a run may give something out, decided and recorded as a `read` of it would be. */
export type MayAttach = (
  source: AttachmentSource,
) => Promise<{ readonly ok: true } | { readonly ok: false; readonly why: string }>;

export interface ToolboxOptions<Run extends ToolRun> {
  /** Where the tools of an agent work. */
  readonly folders: (agent: Run["agent"]) => Pick<BuiltInToolsOptions, "workspace">;
  /** What an agent remembers. Default: nothing, and the tools do not exist. */
  readonly memory?: (agent: Run["agent"]) => AgentMemory | undefined;
  readonly sandbox: BuiltInToolsOptions["sandbox"];
  /** Hosts that an agent's commands may reach, if policy allows it. Default: none. */
  readonly domains?: (agent: Run["agent"]) => readonly string[];
  /** Additional environment variables for an agent's commands, requested before each. Default: none. */
  readonly environment?: (agent: Run["agent"]) => Promise<Readonly<Record<string, string>>>;
  /** Removes secrets from tool results, before a model or a viewer gets them. Default: nothing is removed. */
  readonly withoutSecrets?: (text: string) => string;
  /** See {@link BuiltInToolsOptions.fitPicture}. */
  readonly fitPicture?: NonNullable<BuiltInToolsOptions["fitPicture"]>;
  readonly fetch: BuiltInToolsOptions["fetch"];
  /**
   * The service behind `web_search`, requested whenever an agent's tools are made. Default: none, and the tool does not
   * exist.
   */
  readonly webSearch?: () => BuiltInToolsOptions["webSearch"];
  /**
   * Has a model that sees look at a picture for a run; requested whenever an agent's tools are made. Default: none, and
   * the tool does not exist.
   */
  readonly look?: () => LookFor<Run> | undefined;
  /** What the tool `gateway` reports and does. Default: the tool does not exist. */
  readonly gateway?: BuiltInToolsOptions["gateway"];
  /** Carries out the message tool's requests. */
  readonly send: (
    action: MessageAction,
    run: Run & { readonly mayAttach: MayAttach },
    call: { readonly callId: string; readonly signal: AbortSignal },
  ) => Promise<MessageOutcome>;
  /** Whether a destination that the message tool names is the conversation of the run itself. Default: none is. */
  readonly isCurrent?: (destination: MessageDestination, run: Run) => boolean;
  /** Carries out the cron tool's requests. Default: there are no schedules, and the tool does not exist. */
  readonly cron?: (request: CronRequest, run: Run, call: { readonly callId: string }) => Promise<string>;
  /**
   * Asks the person that a run works for, see `ask` of `AskUserToolOptions`. Default: people are not asked, and the
   * tool does not exist.
   */
  readonly askUser?: (
    question: AskUserRequest,
    run: Run,
    call: { readonly callId: string; readonly signal: AbortSignal },
  ) => Promise<UserQuestionOutcome>;
  /**
   * Carries out requests for sub-agents, of a run with these tools. Default: there are none, and the tools do not
   * exist.
   */
  readonly sessions?: (
    request: SessionsRequest,
    run: Run & { readonly offered: readonly string[] },
    call: SessionsCall,
  ) => Promise<string>;
  /** Tools in addition to the built-in ones, requested before each run. Default: none. */
  readonly more?: (agent: Run["agent"]) => Promise<MoreTools>;
  /** Where questions to people are kept. */
  readonly approvals: ApprovalStore;
  /** Puts a question to people. */
  readonly ask: (approval: Approval, run: Run) => Promise<void>;
  /** Told of a question that ran out before anybody decided it. */
  readonly expired?: (approval: Approval) => void;
  /** The language in which the people of a run are told why they are asked. Default English. */
  readonly phrasesTo?: (run: Run) => Phrases;
  /** What an agent may do unasked in the mode `unlisted`. Default: nothing. */
  readonly standingRules?: (
    agent: Run["agent"],
  ) => readonly StandingRule[] | Promise<readonly StandingRule[]>;
  /** The host's code, called before every decision. */
  readonly beforeCall: (call: HookedCall) => Promise<HookVerdict>;
  /** Records a decision. If it throws, the call does not run. */
  readonly note: (run: Run, text: string, data: NotedDecision) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Has a model look at a picture for a run. */
export type LookFor<Run> = (picture: PictureQuestion, run: Run, signal: AbortSignal) => Promise<string>;

/** What was decided, in parts. */
interface NotedDecision {
  /** The tool, or `attach` for what a reply was to carry. */
  readonly tool: string;
  readonly decision: "allow" | "ask" | "deny";
  readonly rule: string;
  readonly call?: string;
}

/** Tools that are not built in: a host's own, of packages, of servers. */
export interface MoreTools {
  readonly tools: readonly ToolDefinition[];
  /** What the run has seen that is shown them: words about them that nobody has looked at. Default: nothing. */
  readonly taint?: readonly TaintMark[];
}

export interface HookedCall {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly tool: string;
  readonly callId: string;
  readonly args: unknown;
}

/** Changed arguments are validated against the tool's schema again, and decided before the tool runs. */
export type HookVerdict =
  | { readonly action: "allow"; readonly args?: JsonObject }
  | { readonly action: "deny"; readonly reason: string };
