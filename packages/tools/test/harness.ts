import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonValue, ToolResult } from "@signalbox/agent-core";
import { onTestFinished } from "vitest";
import {
  type Approvals,
  createEditTool,
  createLsTool,
  createReadTool,
  createRunState,
  createToolRunner,
  createWriteTool,
  type DecisionRecord,
  openWorkspace,
  type RunFacts,
  type ToolDefinition,
  type ToolPolicy,
  type Workspace,
} from "../src/index.ts";
import type { RunState } from "../src/run-state.ts";
import type { AllowRule } from "../src/shell/allow-rule.ts";

export const FACTS: RunFacts = {
  agentId: "coder",
  sessionKey: "agent:coder:feishu:direct:ou_1",
  role: "member",
  speaker: "feishu:ou_1",
  channelKind: "direct",
  taint: [],
};

export interface Caller {
  readonly state: RunState;
  readonly records: DecisionRecord[];
  call(name: string, args: JsonValue, signal?: AbortSignal): Promise<ToolResult>;
}

/** Creates a scripted caller that, like a model, uses tool names and arguments. */
export function caller(
  tools: readonly ToolDefinition[],
  options: {
    facts?: Partial<RunFacts>;
    policy?: ToolPolicy;
    approvals?: Approvals;
    allowRules?: readonly AllowRule[];
    resultChars?: number;
    /** Called after the decision and before the tool runs. */
    judged?: () => void;
  } = {},
): Caller {
  const records: DecisionRecord[] = [];
  const state = createRunState({ ...FACTS, ...options.facts });
  const runner = createToolRunner({
    tools,
    policy: options.policy ?? { allow: ["*"] },
    record: (record) => {
      records.push(record);
      options.judged?.();
    },
    allowRules: () => options.allowRules ?? [],
    ...(options.approvals === undefined ? {} : { approvals: options.approvals }),
  });
  const run = runner.forRun(state);
  let calls = 0;
  return {
    state,
    records,
    call(name, args, signal = new AbortController().signal) {
      calls += 1;
      const { resultChars = 16_000 } = options;
      return run.call(name, args, { callId: `call_${calls}`, signal, resultChars });
    },
  };
}

/** Returns the text of a result. */
export function textOf(result: ToolResult): string {
  return result.content.map((block) => (block.type === "text" ? block.text : `<${block.type}>`)).join("");
}

/** Creates a temporary folder, and a caller with the tools for its files. */
export async function openFiles(): Promise<{ dir: string; workspace: Workspace; agent: Caller }> {
  const dir = mkdtempSync(join(tmpdir(), "files-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const workspace = await openWorkspace({ dir });
  const tools = [createReadTool, createWriteTool, createEditTool, createLsTool].map((make) =>
    make({ workspace }),
  );
  return { dir, workspace, agent: caller(tools) };
}
