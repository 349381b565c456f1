import type { ReactNode } from "react";
import { CodeBlock } from "./code-block.tsx";
import type { Item } from "./view.ts";

type Call = Extract<Item, { kind: "tool" }>;

const STATES = { running: "running", done: "done", failed: "failed", lost: "no result" };
const MARKS = { running: "…", done: "✓", failed: "✕", lost: "?" };

/** A tool call on one line; unfolded, what the tool was given and what it gave. */
export function ToolCall({ call }: { call: Call }): ReactNode {
  return (
    <details className={`tool ${call.state}`}>
      <summary>
        <span className="mark" aria-hidden="true">
          {MARKS[call.state]}
        </span>
        <span className="name">{call.name}</span>
        <span className="gist">{gist(call.args)}</span>
        <span className="outcome">
          {call.state === "done" ? <span className="hidden">done</span> : STATES[call.state]}
          {call.durationMs !== undefined && ` ${duration(call.durationMs)}`}
        </span>
      </summary>
      <CodeBlock label="Arguments" text={JSON.stringify(call.args, undefined, 2) ?? "none"} />
      {call.state === "running" && call.text !== "" ? (
        <CodeBlock label="So far" text={call.text} />
      ) : call.state === "running" || call.state === "lost" ? (
        <p className="state">
          {call.state === "lost" ? "The run ended without a result." : "No result yet."}
        </p>
      ) : (
        <CodeBlock label={call.state === "failed" ? "Error" : "Result"} text={call.text} />
      )}
    </details>
  );
}

/** The argument that says most: the first text, else nothing. */
function gist(args: unknown): string {
  if (typeof args !== "object" || args === null) return "";
  const text = Object.values(args).find((value) => typeof value === "string");
  return typeof text === "string" ? text.slice(0, 200) : "";
}

function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
