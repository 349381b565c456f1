import type { GatewayHook } from "./hook-points.ts";

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
  runEnded(
    agent: string,
    outcome: string,
    usage:
      | { readonly inputTokens: number; readonly cachedTokens: number; readonly outputTokens: number }
      | undefined,
    reason?: string,
  ): void;
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
      run: ({ agentId, outcome, usage, error }) => counts.runEnded(agentId, outcome, usage, error?.code),
    },
    {
      point: "after_tool_call",
      name: "count-tool-calls",
      run: ({ tool, outcome }) => counts.toolCalled(tool, outcome),
    },
  ];
}
