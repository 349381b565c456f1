import type { Problem } from "@signalbox/client";
import { lazy, memo, type ReactNode, Suspense } from "react";
import type { Item, Uploaded } from "../../conversation/item.ts";
import { ProblemNote } from "../../parts/problem.tsx";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";
import { SentFiles } from "./attachment-list.tsx";
import { ToolCall } from "./tool-call.tsx";

/** Loaded with the first answer, because the Markdown parser is a quarter of the page's scripts. */
const Markdown = lazy(async () => ({ default: (await import("../../markdown/markdown.tsx")).Markdown }));

interface Props {
  item: Item;
  /** The item is the last one of the current run. */
  isOpen: boolean;
  onSend: (text: string, files?: readonly Uploaded[]) => void;
  onDismiss: (key: string) => void;
}

export const LogItem = memo(function LogItem({ item, isOpen, onSend, onDismiss }: Props): ReactNode {
  const words = useWords();
  switch (item.kind) {
    case "user":
      return (
        <>
          {item.begins && (
            <p className="divider">
              <span>{words.chat.beginsAnew}</span>
            </p>
          )}
          <article className={`user ${item.state}`} aria-label={words.chat.you}>
            {item.text !== "" && <div className="bubble">{item.text}</div>}
            {item.files && <SentFiles files={item.files} />}
            {item.state === "sending" && <p className="state">{words.chat.sending}</p>}
            {item.problem && (
              <ProblemNote
                problem={item.problem}
                action={{
                  label: words.chat.sendAgain,
                  run: () => {
                    onDismiss(item.key);
                    onSend(item.text, item.unsent);
                  },
                }}
              />
            )}
          </article>
        </>
      );
    case "assistant":
      return (
        <article className={`assistant ${item.state}`} aria-label={words.chat.agent}>
          {item.thinking !== "" && (
            <details className="thinking">
              <summary>{words.chat.thinking}</summary>
              <p>{item.thinking}</p>
            </details>
          )}
          {item.text !== "" && (
            <Suspense fallback={<div className="markdown">{item.text}</div>}>
              <Markdown text={item.text} />
            </Suspense>
          )}
          {isOpen && item.choices && (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset needs a form, and there is no form
            <div className="answers" role="group" aria-label={words.chat.answers}>
              {item.choices.map((choice) => (
                <button key={choice} type="button" className="quiet" onClick={() => onSend(choice)}>
                  {choice}
                </button>
              ))}
            </div>
          )}
          {item.state === "cut" && item.text !== "" && <p className="state">{words.chat.unfinished}</p>}
        </article>
      );
    case "tool":
      return <ToolCall call={item} />;
    case "end":
      return <EndOfRun end={item} />;
    case "problem":
      return (
        <ProblemNote
          problem={item.problem}
          action={{ label: words.dismiss, run: () => onDismiss(item.key) }}
        />
      );
  }
});

function EndOfRun({ end }: { end: Extract<Item, { kind: "end" }> }): ReactNode {
  const { chat: words } = useWords();
  const format = useFormat();
  const parts: string[] = [];
  const outcome = words.outcomes[end.outcome];
  if (outcome !== "") parts.push(outcome);
  if (end.usage !== undefined) {
    const { inputTokens, outputTokens, costMicros } = end.usage;
    parts.push(words.tokens(format.number(inputTokens), format.number(outputTokens)));
    if (costMicros !== undefined) parts.push(words.cost(format.cost(costMicros)));
  }
  return (
    <div className={`end ${end.outcome}`}>
      {parts.length > 0 && <p className="how">{parts.join(" · ")}</p>}
      {end.error !== undefined && <WhyFailed error={end.error} />}
    </div>
  );
}

/** An error. Shows the remedy, and folds the vendor's message, which can be long. */
function WhyFailed({ error }: { error: Problem }): ReactNode {
  const { chat: words } = useWords();
  const remedy = words.remedy(error.code) ?? error.remedy;
  return (
    <>
      {remedy !== undefined && <p>{remedy}</p>}
      <details>
        <summary className="why">{words.whyFailed(error.code)}</summary>
        <p className="said">{error.message}</p>
      </details>
    </>
  );
}
