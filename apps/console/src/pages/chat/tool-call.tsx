import type { ReactNode } from "react";
import type { Item } from "../../conversation/item.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";

type Call = Extract<Item, { kind: "tool" }>;

const MARKS = { running: "…", done: "✓", failed: "✕", lost: "?" };

/** A tool call on one line, which unfolds to its arguments and its result. */
export function ToolCall({ call }: { call: Call }): ReactNode {
  const { tool: words } = useWords();
  const format = useFormat();
  return (
    <details className={`tool ${call.state}`}>
      <summary>
        <span className="mark" aria-hidden="true">
          {MARKS[call.state]}
        </span>
        <span className="name">{call.name}</span>
        <span className="gist">{gist(call.args)}</span>
        <span className="outcome">
          {call.state === "done" ? (
            <span className="hidden">{words.states.done}</span>
          ) : (
            words.states[call.state]
          )}
          {call.durationMs !== undefined && ` ${format.duration(call.durationMs)}`}
        </span>
      </summary>
      <CodeBlock label={words.args} text={JSON.stringify(call.args, undefined, 2) ?? words.none} />
      {call.state === "running" && call.text !== "" ? (
        <CodeBlock label={words.soFar} text={call.text} />
      ) : call.state === "running" || call.state === "lost" ? (
        <p className="state">{call.state === "lost" ? words.endedWithout : words.noResultYet}</p>
      ) : (
        <CodeBlock label={call.state === "failed" ? words.error : words.result} text={call.text} />
      )}
    </details>
  );
}

/** Returns the first string argument as a summary of the call. */
function gist(args: unknown): string {
  if (typeof args !== "object" || args === null) return "";
  const text = Object.values(args).find((value) => typeof value === "string");
  return typeof text === "string" ? text.slice(0, 200) : "";
}
