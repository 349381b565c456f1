import { lazy, memo, type ReactNode, Suspense } from "react";
import { ProblemNote } from "./problem.tsx";
import { ToolCall } from "./tool-call.tsx";
import type { Item } from "./view.ts";

/** Loaded with the first answer: the reader of Markdown is a quarter of the page's scripts. */
const Markdown = lazy(async () => ({ default: (await import("./markdown/markdown.tsx")).Markdown }));

interface Props {
  item: Item;
  onSend: (text: string) => void;
  onDismiss: (key: string) => void;
}

export const LogItem = memo(function LogItem({ item, onSend, onDismiss }: Props): ReactNode {
  switch (item.kind) {
    case "user":
      return (
        <article className={`user ${item.state}`} aria-label="You">
          <div className="bubble">{item.text}</div>
          {item.state === "sending" && <p className="state">Sending…</p>}
          {item.problem && (
            <ProblemNote
              problem={item.problem}
              action={{
                label: "Send again",
                run: () => {
                  onDismiss(item.key);
                  onSend(item.text);
                },
              }}
            />
          )}
        </article>
      );
    case "assistant":
      return (
        <article className={`assistant ${item.state}`} aria-label="Agent">
          {item.thinking !== "" && (
            <details className="thinking">
              <summary>Thinking</summary>
              <p>{item.thinking}</p>
            </details>
          )}
          {item.text !== "" && (
            <Suspense fallback={<div className="markdown">{item.text}</div>}>
              <Markdown text={item.text} />
            </Suspense>
          )}
          {item.state === "cut" && item.text !== "" && <p className="state">Not finished.</p>}
        </article>
      );
    case "tool":
      return <ToolCall call={item} />;
    case "end":
      return <EndOfRun end={item} />;
    case "problem":
      return (
        <ProblemNote problem={item.problem} action={{ label: "Dismiss", run: () => onDismiss(item.key) }} />
      );
  }
});

const OUTCOMES = {
  replied: undefined,
  silent: "The agent chose not to answer.",
  failed: "The run failed.",
  aborted: "Stopped.",
};

function EndOfRun({ end }: { end: Extract<Item, { kind: "end" }> }): ReactNode {
  const parts: string[] = [];
  const outcome = OUTCOMES[end.outcome];
  if (outcome !== undefined) parts.push(outcome);
  if (end.usage !== undefined) {
    const { inputTokens, outputTokens, costMicros } = end.usage;
    parts.push(`${inputTokens.toLocaleString()} tokens in, ${outputTokens.toLocaleString()} out`);
    if (costMicros !== undefined) parts.push(`cost ${(costMicros / 1_000_000).toFixed(4)}`);
  }
  return parts.length === 0 ? null : <p className={`end ${end.outcome}`}>{parts.join(" · ")}</p>;
}
