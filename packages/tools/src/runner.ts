import {
  type AskAnswer,
  type BeforeToolCall,
  type JsonObject,
  type JsonValue,
  type OnAsk,
  reasonOf,
  type Tool,
  type ToolCall,
  type ToolContext,
  type ToolDecision,
  type ToolOutput,
  type ToolResult,
  validateResult,
} from "@signalbox/agent-core";
import type { Phrases } from "@signalbox/phrases";
import { redactJson } from "@signalbox/redaction";
import type { Approval, Requester } from "./approval-store.ts";
import { type CallDecisionOptions, createCallDecider, type DecidedRun } from "./call-decision.ts";
import { getBlueprint, type ToolDefinition } from "./define.ts";
import { Permits } from "./permits.ts";
import { type GetCurrentRights, isOffered } from "./policy.ts";
import { failure } from "./result.ts";
import type { RunState } from "./run-state.ts";
import { withTimeout } from "./timeout.ts";
import type { Permit, ToolBlueprint } from "./types.ts";

/**
 * Maximum length of the result of a tool that a person runs with a command, in characters. No model's context window
 * limits it.
 */
const COMMAND_RESULT_CHARS = 16_000;

export interface ToolRunnerOptions extends CallDecisionOptions {
  readonly tools: readonly ToolDefinition[];
  /**
   * Sanitizes every string of a tool result, for example by removing secrets, before a model or viewer receives it.
   * Default: no change.
   */
  readonly cleanText?: (text: string) => string;
}

/** Runs tools. This is the only way to run a `ToolDefinition`. */
export interface ToolRunner {
  /** Returns the tools in the form in which one run may use them. */
  forRun(state: RunState, options?: ForRunOptions): RunTools;
}

export interface ForRunOptions {
  /** True if people can approve calls and answer questions during the run. Default: true. */
  readonly canAsk?: boolean;
  /** Additional tools for this run, such as tools from MCP servers. A tool whose name is already taken is ignored. */
  readonly more?: readonly ToolDefinition[];
  /** Looks up the current rights of the run. Default: the runner's policy and the run's role. */
  readonly getCurrentRights?: GetCurrentRights;
  /** Stays the same if the run continues after a restart. Approvals for its calls then remain valid. */
  readonly runId?: string | undefined;
  /** Language of the reasons in approval requests. Default: English. */
  readonly phrases?: Phrases | undefined;
  /** See `DecidedRun`. */
  readonly requester?: Requester | undefined;
}

/** The tools of one run. Every call is decided and recorded before its body runs. */
export interface RunTools {
  /** The tools that the run may use in any call, for the model and the loop. */
  readonly tools: readonly Tool[];
  /** For the agent loop. Decides about a call before it is announced. */
  readonly beforeToolCall: BeforeToolCall;
  /** For the agent loop. Waits for the approval that `beforeToolCall` requested. */
  readonly onAsk: OnAsk;
  /**
   * For calls outside the loop (slash commands, HTTP, skills). Validates the arguments, decides about the call and runs
   * it.
   */
  call(name: string, args: unknown, options: DirectCallOptions): Promise<ToolResult>;
}

export interface DirectCallOptions {
  /** Unique within the run. */
  readonly callId: string;
  readonly signal: AbortSignal;
  readonly update?: ToolContext["update"];
  /** Maximum length of the result in characters. Default: 16,000. */
  readonly resultChars?: number;
  /** Called with the approval request if the call needs approval and has none. The call then fails without running. */
  readonly onRequested?: (approval: Approval) => void;
  /**
   * Awaited after the call was allowed and before the tool runs. If this rejects, the call rejects and the tool does
   * not run.
   */
  readonly beforeRun?: () => Promise<void>;
}

/**
 * Creates the runner of an agent's tools.
 *
 * @throws TypeError if two tools have the same name
 * @example
 * const runner = createToolRunner({
 *   tools: [createReadTool({ workspace })],
 *   policy: { allow: ["read"] },
 *   record: (decision) => log.info(decision),
 * });
 * const run = runner.forRun(createRunState({ agentId, sessionKey, role: "member", channelKind: "direct", taint: [] }));
 * await run.call("read", { file_path: "notes.md" }, { callId: "1", signal });
 */
export function createToolRunner(options: ToolRunnerOptions): ToolRunner {
  const blueprints = new Map<string, ToolBlueprint>();
  for (const definition of options.tools) {
    const blueprint = getBlueprint(definition);
    if (blueprints.has(blueprint.name)) throw new TypeError(`there are two tools called ${blueprint.name}`);
    blueprints.set(blueprint.name, blueprint);
  }
  const { approvals: _approvals, ...withoutApprovals } = options;
  return {
    forRun(state, { canAsk = true, more = [], getCurrentRights, runId, phrases, requester } = {}) {
      const all = more.length === 0 ? blueprints : addTools(blueprints, more);
      const current = getCurrentRights ?? (async () => ({ policy: options.policy, role: state.facts.role }));
      const run = { state, getCurrentRights: current, runId, phrases, requester };
      return canAsk
        ? createRunTools(options, all, run)
        : createRunTools(withoutApprovals, withoutWaiting(all), run);
    },
  };
}

function redactResult(result: ToolResult, cleanText: ToolRunnerOptions["cleanText"]): ToolResult {
  if (cleanText === undefined) return result;
  const { details } = result;
  return {
    ...result,
    content: result.content.map((block) =>
      block.type === "text" ? { ...block, text: cleanText(block.text) } : block,
    ),
    ...(details === undefined ? {} : { details: redactJson(details, cleanText) }),
  };
}

function withoutWaiting(blueprints: ReadonlyMap<string, ToolBlueprint>): ReadonlyMap<string, ToolBlueprint> {
  return new Map([...blueprints].filter(([, { waitsFor }]) => waitsFor === undefined));
}

function addTools(
  blueprints: ReadonlyMap<string, ToolBlueprint>,
  more: readonly ToolDefinition[],
): ReadonlyMap<string, ToolBlueprint> {
  const all = new Map(blueprints);
  for (const definition of more)
    if (!all.has(definition.name)) all.set(definition.name, getBlueprint(definition));
  return all;
}

function createRunTools(
  options: ToolRunnerOptions,
  blueprints: ReadonlyMap<string, ToolBlueprint>,
  run: DecidedRun,
): RunTools {
  const context: RunContext = {
    options,
    blueprints,
    run,
    permits: new Permits(createCallDecider(options, run), run),
  };
  return {
    tools: [...blueprints.values()]
      .filter((blueprint) => isOffered(options.policy, blueprint, run.state.facts))
      .map((blueprint) =>
        toTool(blueprint, (call, toolContext) => execute(context, blueprint, call, toolContext)),
      ),
    beforeToolCall: (info) => beforeToolCall(context, info),
    onAsk: (info) => waitForAnswer(context, info),
    call: (name, args, how) => callDirectly(context, name, args, how),
  };
}

type AskInfo = Parameters<OnAsk>[0];

interface RunContext {
  readonly options: ToolRunnerOptions;
  readonly blueprints: ReadonlyMap<string, ToolBlueprint>;
  readonly run: DecidedRun;
  readonly permits: Permits;
}

async function beforeToolCall(
  { blueprints, permits }: RunContext,
  { tool, call, args }: Parameters<BeforeToolCall>[0],
): Promise<ToolDecision> {
  const blueprint = blueprints.get(tool.name);
  if (blueprint === undefined) return { action: "block", reason: `There is no tool called ${tool.name}.` };
  const outcome = await permits.decide(blueprint, call.id, args);
  switch (outcome.kind) {
    case "permit":
      return blueprint.waitsFor === undefined
        ? { action: "allow" }
        : { action: "ask", question: `${blueprint.name} is waiting for a person.` };
    case "deny":
      return { action: "block", reason: `Not allowed. ${outcome.reason}` };
    case "ask":
      return { action: "ask", question: outcome.reason, details: toQuestionDetails(outcome.approval) };
  }
}

async function waitForAnswer(context: RunContext, info: AskInfo): Promise<AskAnswer> {
  const blueprint = context.blueprints.get(info.tool.name);
  if (blueprint === undefined) return { action: "deny", reason: CANNOT_ASK };
  const approvalId = info.details?.["approvalId"];
  const isAllowed = approvalId === undefined && blueprint.waitsFor !== undefined;
  const refusal = isAllowed ? undefined : await waitForApproval(context, blueprint, info, approvalId);
  if (refusal !== undefined) return { action: "deny", reason: refusal };
  const { id, name } = info.call;
  await blueprint.waitsFor?.({ id, name, args: info.args }, context.run.state.facts, info.signal);
  return { action: "allow" };
}

/** Waits for the approval of a call. Returns the reason why the call may not run, or undefined if it may. */
async function waitForApproval(
  { options: { approvals }, permits }: RunContext,
  blueprint: ToolBlueprint,
  { call, args, signal }: AskInfo,
  approvalId: JsonValue | undefined,
): Promise<string | undefined> {
  if (approvals === undefined || typeof approvalId !== "string") return CANNOT_ASK;
  const answer = await approvals.wait(approvalId, signal);
  if (answer === "denied") return "The approval was denied.";
  if (answer === "expired") return "Nobody approved it in time.";
  // Decide again: the effect of the call may have changed since it was approved.
  const outcome = await permits.decide(blueprint, call.id, args);
  return outcome.kind === "permit" ? undefined : outcome.reason;
}

async function execute(
  context: RunContext,
  blueprint: ToolBlueprint,
  call: ToolCall,
  toolContext: ToolContext,
): Promise<ToolResult> {
  const permit = await getPermit(context, blueprint, call);
  return "content" in permit ? permit : runBody(context, blueprint, call, toolContext, permit);
}

async function callDirectly(
  context: RunContext,
  name: string,
  args: unknown,
  { callId, signal, update, onRequested, beforeRun, resultChars = COMMAND_RESULT_CHARS }: DirectCallOptions,
): Promise<ToolResult> {
  const blueprint = context.blueprints.get(name);
  if (blueprint === undefined) return failure(`There is no tool called ${name}.`);
  const validated = await validateArgs(blueprint, args);
  if ("problem" in validated) return failure(`The arguments of ${name} are not valid: ${validated.problem}`);
  const toolContext = { resultChars, update: update ?? (() => {}) };
  const call = { id: callId, name, args: validated.args };
  const permit = await getPermit(context, blueprint, call, onRequested).catch((error: unknown) =>
    failure(reasonOf(error)),
  );
  if ("content" in permit) return permit;
  await beforeRun?.();
  try {
    const limits = { signal, timeoutMs: blueprint.timeoutMs };
    return await withTimeout(limits, (ending) =>
      runBody(context, blueprint, call, { ...toolContext, signal: ending }, permit),
    );
  } catch (error) {
    return failure(reasonOf(error));
  }
}

/** Returns the permit for a call, or a failure that explains why the call may not run. */
async function getPermit(
  { permits }: RunContext,
  blueprint: ToolBlueprint,
  call: ToolCall,
  onRequested?: DirectCallOptions["onRequested"],
): Promise<Permit | ToolResult> {
  const outcome = await permits.take(blueprint, call.id, call.args);
  if (outcome.kind === "deny") return failure(`Not allowed. ${outcome.reason}`);
  if (outcome.kind === "permit") return outcome.permit;
  onRequested?.(outcome.approval);
  return failure(describePending(outcome.reason, outcome.approval));
}

async function runBody(
  { options: { cleanText }, run: { state } }: RunContext,
  blueprint: ToolBlueprint,
  call: ToolCall,
  context: ToolContext,
  permit: Permit,
): Promise<ToolResult> {
  context.signal.throwIfAborted();
  // Plugins may return a string or any other JSON value instead of a result.
  const redact = (output: ToolOutput) => redactResult(validateResult(output, blueprint.name), cleanText);
  try {
    const update: ToolContext["update"] = (partial) => context.update(redact(partial));
    return redact(await blueprint.run(call, { ...context, update }, permit));
  } finally {
    if (blueprint.taints !== undefined) state.taint({ source: blueprint.taints, detail: blueprint.name });
  }
}

const CANNOT_ASK = "Nobody can approve this call here.";

/** Validates arguments against a Standard Schema. A tool with a JSON Schema validates its arguments itself. */
async function validateArgs(
  blueprint: ToolBlueprint,
  args: unknown,
): Promise<{ readonly args: unknown } | { readonly problem: string }> {
  if (!isStandardSchema(blueprint.inputSchema)) return { args };
  const result = await blueprint.inputSchema["~standard"].validate(args);
  if (result.issues === undefined) return { args: result.value };
  return { problem: result.issues.map((issue) => issue.message).join("; ") };
}

function isStandardSchema(
  schema: ToolBlueprint["inputSchema"],
): schema is Exclude<typeof schema, JsonObject> {
  return "~standard" in schema;
}

function toQuestionDetails(approval: Approval): JsonObject {
  const { subject } = approval;
  return {
    approvalId: approval.id,
    hash: approval.hash,
    tool: approval.tool,
    action: subject.action,
    ...(subject.files === undefined ? {} : { files: subject.files.map((file) => ({ ...file })) }),
    ...(subject.cwd === undefined ? {} : { cwd: subject.cwd }),
    ...(subject.env === undefined ? {} : { env: { ...subject.env } }),
    ...(subject.binary === undefined ? {} : { binary: subject.binary }),
    expiresAt: approval.expiresAt,
  };
}

function describePending(reason: string, approval: Approval): string {
  return `This needs approval and has not run. ${reason} The approval request is ${approval.id}. Tell the person, and repeat the call with the same arguments once it is approved.`;
}

function toTool(blueprint: ToolBlueprint, execute: Tool["execute"]): Tool {
  const { name, description, inputSchema, effects, execution, timeoutMs, truncate } = blueprint;
  return Object.freeze({ name, description, inputSchema, effects, execution, timeoutMs, truncate, execute });
}
