import type { GatewayHook } from "./hook-points.ts";

/** Series of one counter; what comes after them is counted together, since models and platforms make up names. */
const SERIES = 200;
const OTHER = "other";

type Labels = readonly (readonly [name: string, value: string])[];

/** Counts that only go up, since the start. */
export interface Counters {
  /** They count what the points of a message's way tell. */
  readonly hooks: readonly GatewayHook[];
  /** In Prometheus' text format. */
  text(): string;
}

export function createCounters(): Counters {
  const messages = counter("signalbox_messages_total", "Messages taken, by what the gate decided");
  const replies = counter("signalbox_replies_total", "Replies that are out");
  const runs = counter("signalbox_runs_total", "Turns that ended, by how");
  const calls = counter("signalbox_tool_calls_total", "Tool calls that have a result");
  /** Tools that have worked once: models make names up, and those are not worth a series. */
  const tools = new Set<string>();
  const tokens = counter("signalbox_tokens_total", "Tokens of turns that ended");
  return {
    hooks: [
      {
        point: "message_received",
        name: "count-messages",
        run: ({ event, decision }) =>
          messages.add([
            ["channel", event.channel],
            ["decision", decision],
          ]),
      },
      {
        point: "message_sent",
        name: "count-replies",
        run: ({ channel }) => replies.add([["channel", channel]]),
      },
      {
        point: "run_end",
        name: "count-runs",
        run({ outcome, usage }) {
          runs.add([["outcome", outcome]]);
          if (usage === undefined) return;
          tokens.add([["kind", "input"]], usage.inputTokens);
          tokens.add([["kind", "cached"]], usage.cachedTokens);
          tokens.add([["kind", "output"]], usage.outputTokens);
        },
      },
      {
        point: "after_tool_call",
        name: "count-tool-calls",
        run({ tool, outcome }) {
          if (outcome === "ok") tools.add(tool);
          calls.add([
            ["tool", tools.has(tool) ? tool : OTHER],
            ["outcome", outcome],
          ]);
        },
      },
    ],
    text: () => [messages, replies, runs, calls, tokens].map((one) => one.text()).join(""),
  };
}

interface Counter {
  add(labels: Labels, by?: number): void;
  text(): string;
}

function counter(name: string, help: string): Counter {
  const series = new Map<string, number>();
  return {
    add(labels, by = 1) {
      const wanted = written(labels);
      const key =
        series.has(wanted) || series.size < SERIES
          ? wanted
          : written(labels.map(([label]) => [label, OTHER] as const));
      series.set(key, (series.get(key) ?? 0) + by);
    },
    text() {
      const lines = [...series].map(([labels, value]) => `${name}{${labels}} ${value}\n`);
      return `# HELP ${name} ${help}\n# TYPE ${name} counter\n${lines.join("")}`;
    },
  };
}

/** Labels as the text format wants them: backslashes, quotes and line ends escaped. */
function written(labels: Labels): string {
  return labels
    .map(([label, value]) => `${label}="${value.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"`)
    .join(",");
}
