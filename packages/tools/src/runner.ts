import {
  type AskAnswer,
  type BeforeToolCall,
  type JsonObject,
  type JsonValue,
  type OnAsk,
  reasonOf,
  soundResult,
  type Tool,
  type ToolCall,
  type ToolContext,
  type ToolDecision,
  type ToolResult,
} from "@signalbox/agent-core";
import type { Phrases } from "@signalbox/phrases";
import { redactJson } from "@signalbox/redaction";
import type { Approval } from "./approval-store.ts";
import { blueprintOf, type ToolDefinition } from "./define.ts";
import type { LooksUpInForce } from "./in-force.ts";
import { inTime } from "./in-time.ts";
import { createJudge, type JudgedRun, type JudgeOptions } from "./judge.ts";
import { Permits } from "./permits.ts";
import { offers } from "./policy.ts";
import { failure } from "./result.ts";
import type { RunState } from "./run-state.ts";
import type { Permit, ToolBlueprint } from "./types.ts";

/** Characters of the result of a tool that a person runs as a command, with no model whose window would tell. */
const COMMAND_RESULT_CHARS = 16_000;

export interface ToolRunnerOptions extends JudgeOptions {
  readonly tools: readonly ToolDefinition[];
  /** Removes secrets from tool results, before a model or a viewer gets them. Default: nothing is removed. */
  readonly withoutSecrets?: (text: string) => string;
}

/** The one place through which tools run. */
export interface ToolRunner {
  /** The tools as one run may use them. */
  forRun(state: RunState, options?: ForRunOptions): RunTools;
}

export interface ForRunOptions {
  /** Whether a person can be asked during the run; default yes. */
  readonly canAsk?: boolean;
  /** Additional tools of this run, such as those that a server offers now. A tool whose name is taken is left out. */
  readonly more?: readonly ToolDefinition[];
  /** What applies now. Default: what the runner was created with when the run began. */
  readonly inForce?: LooksUpInForce;
  /** The same id when the run continues after a restart: a call that was approved before is not asked about again. */
  readonly runId?: string | undefined;
  /** The language in which people are told why they are asked. Default English. */
  readonly phrases?: Phrases | undefined;
}

/** Tools of one run. Each call is decided and recorded before its body is reached, however it came. */
export interface RunTools {
  /** The tools that the run may use at all; for the model and the loop. */
  readonly tools: readonly Tool[];
  /** For the loop: decides before the call is announced, so that a refusal or a question comes first. */
  readonly beforeToolCall: BeforeToolCall;
  /** For the loop: waits for the answer to what `beforeToolCall` asked. */
  readonly onAsk: OnAsk;
  /** For everything that is not the loop (slash commands, HTTP, a skill's dispatch): checks the arguments and runs. */
  call(name: string, args: unknown, options: DirectCallOptions): Promise<ToolResult>;
}

export interface DirectCallOptions {
  /** Unique in the run. */
  readonly callId: string;
  readonly signal: AbortSignal;
  readonly update?: ToolContext["update"];
  /** Characters that the result may have. Default 16,000: there is no model whose window would tell. */
  readonly resultChars?: number;
  /** Called with the approval that the call needs and does not have. The call then fails, and nothing runs. */
  readonly asked?: (approval: Approval) => void;
  /** Awaited once the call is allowed, right before its body; what it rejects with is thrown, and nothing runs. */
  readonly started?: () => Promise<void>;
}

/** Makes the choke point of an agent's tools. Throws on two tools of one name. */
export function createToolRunner(options: ToolRunnerOptions): ToolRunner {
  const blueprints = new Map<string, ToolBlueprint>();
  for (const definition of options.tools) {
    const blueprint = blueprintOf(definition);
    if (blueprints.has(blueprint.name)) throw new TypeError(`there are two tools called ${blueprint.name}`);
    blueprints.set(blueprint.name, blueprint);
  }
  const { approvals, ...silent } = options;
  return {
    forRun(state, { canAsk = true, more = [], inForce, runId, phrases } = {}) {
      const all = more.length === 0 ? blueprints : withMore(blueprints, more);
      const now = inForce ?? (async () => ({ policy: options.policy, role: state.facts.role }));
      const run = { state, inForce: now, runId, phrases };
      return canAsk ? runTools(options, all, run) : runTools(silent, withoutWaiting(all), run);
    },
  };
}

/** A result as a model and viewers may see it. */
function cleaned(result: ToolResult, withoutSecrets: ToolRunnerOptions["withoutSecrets"]): ToolResult {
  if (withoutSecrets === undefined) return result;
  const { details } = result;
  return {
    ...result,
    content: result.content.map((block) =>
      block.type === "text" ? { ...block, text: withoutSecrets(block.text) } : block,
    ),
    ...(details === undefined ? {} : { details: redactJson(details, withoutSecrets) }),
  };
}

function withoutWaiting(blueprints: ReadonlyMap<string, ToolBlueprint>): ReadonlyMap<string, ToolBlueprint> {
  return new Map([...blueprints].filter(([, { waitsFor }]) => waitsFor === undefined));
}

function withMore(
  blueprints: ReadonlyMap<string, ToolBlueprint>,
  more: readonly ToolDefinition[],
): ReadonlyMap<string, ToolBlueprint> {
  const all = new Map(blueprints);
  for (const definition of more)
    if (!all.has(definition.name)) all.set(definition.name, blueprintOf(definition));
  return all;
}

function runTools(
  options: ToolRunnerOptions,
  blueprints: ReadonlyMap<string, ToolBlueprint>,
  run: JudgedRun,
): RunTools {
  const running: Running = { options, blueprints, run, permits: new Permits(createJudge(options, run), run) };
  return {
    tools: [...blueprints.values()]
      .filter((blueprint) => offers(options.policy, blueprint, run.state.facts))
      .map((blueprint) => toTool(blueprint, (call, context) => execute(running, blueprint, call, context))),
    beforeToolCall: (info) => decide(running, info),
    onAsk: (info) => waitForAnswer(running, info),
    call: (name, args, how) => callDirectly(running, name, args, how),
  };
}

type Asked = Parameters<OnAsk>[0];

/** The tools of one run. */
interface Running {
  readonly options: ToolRunnerOptions;
  readonly blueprints: ReadonlyMap<string, ToolBlueprint>;
  readonly run: JudgedRun;
  readonly permits: Permits;
}

async function decide(
  { blueprints, permits }: Running,
  { tool, call, args }: Parameters<BeforeToolCall>[0],
): Promise<ToolDecision> {
  const blueprint = blueprints.get(tool.name);
  if (blueprint === undefined) return { action: "block", reason: `There is no tool called ${tool.name}.` };
  const outcome = await permits.judge(blueprint, call.id, args);
  switch (outcome.kind) {
    case "permit":
      return blueprint.waitsFor === undefined
        ? { action: "allow" }
        : { action: "ask", question: `${blueprint.name} is waiting for a person.` };
    case "deny":
      return { action: "block", reason: `Not allowed. ${outcome.reason}` };
    case "ask":
      return { action: "ask", question: outcome.reason, details: questionDetails(outcome.approval) };
  }
}

async function waitForAnswer(running: Running, info: Asked): Promise<AskAnswer> {
  const blueprint = running.blueprints.get(info.tool.name);
  if (blueprint === undefined) return { action: "deny", reason: CANNOT_ASK };
  const approvalId = info.details?.["approvalId"];
  const isAllowed = approvalId === undefined && blueprint.waitsFor !== undefined;
  const whyNot = isAllowed ? undefined : await refusal(running, blueprint, info, approvalId);
  if (whyNot !== undefined) return { action: "deny", reason: whyNot };
  const { id, name } = info.call;
  await blueprint.waitsFor?.({ id, name, args: info.args }, running.run.state.facts, info.signal);
  return { action: "allow" };
}

/** Waits for the approval of a call, whose permit is kept then; undefined where it may run. */
async function refusal(
  { options: { approvals }, permits }: Running,
  blueprint: ToolBlueprint,
  { call, args, signal }: Asked,
  approvalId: JsonValue | undefined,
): Promise<string | undefined> {
  if (approvals === undefined || typeof approvalId !== "string") return CANNOT_ASK;
  const answer = await approvals.wait(approvalId, signal);
  if (answer === "denied") return "The approval was denied.";
  if (answer === "expired") return "Nobody approved it in time.";
  // Judged again: what was approved must still be what would run.
  const outcome = await permits.judge(blueprint, call.id, args);
  return outcome.kind === "permit" ? undefined : outcome.reason;
}

async function execute(
  running: Running,
  blueprint: ToolBlueprint,
  call: ToolCall,
  context: ToolContext,
): Promise<ToolResult> {
  const permit = await permitFor(running, blueprint, call);
  return "content" in permit ? permit : carryOut(running, blueprint, call, context, permit);
}

async function callDirectly(
  running: Running,
  name: string,
  args: unknown,
  { callId, signal, update, asked, started, resultChars = COMMAND_RESULT_CHARS }: DirectCallOptions,
): Promise<ToolResult> {
  const blueprint = running.blueprints.get(name);
  if (blueprint === undefined) return failure(`There is no tool called ${name}.`);
  const checked = await checkArgs(blueprint, args);
  if ("problem" in checked) return failure(`The arguments of ${name} are not valid: ${checked.problem}`);
  const context = { resultChars, update: update ?? (() => {}) };
  const call = { id: callId, name, args: checked.args };
  const permit = await permitFor(running, blueprint, call, asked).catch((error: unknown) =>
    failure(reasonOf(error)),
  );
  if ("content" in permit) return permit;
  await started?.();
  try {
    const limits = { signal, timeoutMs: blueprint.timeoutMs };
    const result = await inTime(limits, (ending) =>
      carryOut(running, blueprint, call, { ...context, signal: ending }, permit),
    );
    return soundResult(result, name);
  } catch (error) {
    return failure(reasonOf(error));
  }
}

/** The permit for a call, or why there is none. */
async function permitFor(
  { permits }: Running,
  blueprint: ToolBlueprint,
  call: ToolCall,
  asked?: DirectCallOptions["asked"],
): Promise<Permit | ToolResult> {
  const outcome = await permits.take(blueprint, call.id, call.args);
  if (outcome.kind === "deny") return failure(`Not allowed. ${outcome.reason}`);
  if (outcome.kind === "permit") return outcome.permit;
  asked?.(outcome.approval);
  return failure(waitingText(outcome.reason, outcome.approval));
}

async function carryOut(
  { options: { withoutSecrets }, run: { state } }: Running,
  blueprint: ToolBlueprint,
  call: ToolCall,
  context: ToolContext,
  permit: Permit,
): Promise<ToolResult> {
  context.signal.throwIfAborted();
  const clean = (result: ToolResult) => cleaned(result, withoutSecrets);
  try {
    const update: ToolContext["update"] = (partial) => context.update(clean(partial));
    return clean(await blueprint.run(call, { ...context, update }, permit));
  } finally {
    if (blueprint.taints !== undefined) state.taint({ source: blueprint.taints, detail: blueprint.name });
  }
}

const CANNOT_ASK = "This question cannot be answered here.";

/** A JSON Schema is left to the tool itself; a Standard Schema is asked. */
async function checkArgs(
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

function questionDetails(approval: Approval): JsonObject {
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

function waitingText(reason: string, approval: Approval): string {
  return `This needs approval and has not run. ${reason} It is waiting as ${approval.id}. Tell the person, and call again with the same arguments once it is approved.`;
}

function toTool(blueprint: ToolBlueprint, execute: Tool["execute"]): Tool {
  const { name, description, inputSchema, effects, execution, timeoutMs, truncate } = blueprint;
  return Object.freeze({
    name,
    description,
    inputSchema,
    effects,
    ...(execution === undefined ? {} : { execution }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(truncate === undefined ? {} : { truncate }),
    execute,
  });
}
