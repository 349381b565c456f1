import type { GatewayHook, ModelTurnUsage } from "./hook-points.ts";

/** Features of the gateway that are implemented as hooks. */
export const BUILT_IN_HOOKS: readonly GatewayHook[] = [
  {
    point: "before_prompt_build",
    name: "client-instructions",
    run: ({ instructions, extra }) =>
      instructions === undefined
        ? undefined
        : {
            extra: [
              ...extra,
              { name: "client", title: "Instructions of the client", text: instructions, part: "volatile" },
            ],
          },
  },
];

/** Counters of messages and replies. */
export interface PointCounts {
  received(channel: string, decision: string): void;
  replied(channel: string): void;
  runEnded(agent: string, outcome: string, models: readonly ModelTurnUsage[], reason?: string): void;
  toolCalled(tool: string, outcome: string): void;
}

/** Creates hooks that update the counters. */
export function countingHooks(counts: PointCounts): readonly GatewayHook[] {
  return [
    {
      point: "message_received",
      name: "count-messages",
      run: ({ event, decision }) => counts.received(event.channel, decision),
    },
    { point: "message_sent", name: "count-replies", run: ({ channel }) => counts.replied(channel) },
    {
      point: "run_end",
      name: "count-runs",
      run: ({ agentId, outcome, models, error }) => counts.runEnded(agentId, outcome, models, error?.code),
    },
    {
      point: "after_tool_call",
      name: "count-tool-calls",
      run: ({ tool, outcome }) => counts.toolCalled(tool, outcome),
    },
  ];
}
