import type { GatewayHook, MessageSent } from "@signalbox/setup/hooks";
import type { OutboxRow } from "@signalbox/store";
import type { Metrics } from "@signalbox/telemetry";
import type { GatewayBodies, InboundRecord } from "../store.ts";

/** The gateway's own features that hang on the points others can use. */
export const OWN_HOOKS: readonly GatewayHook[] = [
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

/** Counts what the points of a message's way tell. */
export function countingHooks(metrics: Metrics): readonly GatewayHook[] {
  return [
    {
      point: "message_received",
      name: "count-messages",
      run: ({ event, decision }) => metrics.received(event.channel, decision),
    },
    { point: "message_sent", name: "count-replies", run: ({ channel }) => metrics.replied(channel) },
    { point: "run_end", name: "count-runs", run: ({ outcome, usage }) => metrics.runEnded(outcome, usage) },
    {
      point: "after_tool_call",
      name: "count-tool-calls",
      run: ({ tool, outcome }) => metrics.toolCalled(tool, outcome),
    },
  ];
}

/** A reply as `message_sent` tells of it. */
export function sentMessage(row: OutboxRow<GatewayBodies>): MessageSent {
  const { channel, account, address, sessionKey, runId, payload } = row;
  const { draft: _, notice: __, ...message } = payload;
  return { channel, account, address, sessionKey, runId, message };
}

/** A reply that one of the gateway's own clients was shown. */
export function shownMessage(
  { stored: { event }, sessionKey }: { readonly stored: InboundRecord; readonly sessionKey: string },
  runId: string | undefined,
  text: string,
): MessageSent {
  const { channel, account, address } = event;
  return { channel, account, address, sessionKey, runId, message: { parts: [{ type: "markdown", text }] } };
}
