import { Button, Group } from "@mantine/core";
import type { Problem } from "@signalbox/client";
import { lazy, memo, type ReactNode, Suspense } from "react";
import type { Item, Uploaded } from "../../conversation/item.ts";
import { ProblemNote } from "../../parts/problem.tsx";
import { ToolCall } from "../../parts/tool-call.tsx";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";
import { SentFiles } from "./attachment-list.tsx";
import classes from "./log-item.module.css";
import { MessageActions } from "./message-actions.tsx";
import { useSpokenAnswer } from "./use-spoken-answer.ts";
import { useChatWords } from "./words.ts";

/** Loaded with the first answer, because the Markdown parser is large. */
const Markdown = lazy(async () => ({ default: (await import("../../markdown/markdown.tsx")).Markdown }));

interface Props {
  item: Item;
  /** The item is the last one of the current run. */
  isOpen: boolean;
  onSend: (text: string, files?: readonly Uploaded[]) => void;
  onEdit: (text: string) => void;
  onDismiss: (key: string) => void;
  /** Links messages to the page that explains them. */
  canExplain: boolean;
  /** Text of the message that this answer replies to, if it can be sent again. */
  retryText?: string;
}

export const LogItem = memo(function LogItem(props: Props): ReactNode {
  const { item, onDismiss } = props;
  const { dismiss } = useWords();
  switch (item.kind) {
    case "user":
      return <UserMessage {...props} item={item} />;
    case "assistant":
      return <Answer {...props} item={item} />;
    case "tool":
      return <ToolCall call={item} />;
    case "end":
      return <EndOfRun end={item} />;
    case "problem":
      return (
        <ProblemNote problem={item.problem} action={{ label: dismiss, run: () => onDismiss(item.key) }} />
      );
  }
});

type UserProps = Props & { item: Extract<Item, { kind: "user" }> };

function UserMessage({ item, onSend, onEdit, onDismiss, canExplain }: UserProps): ReactNode {
  const words = useChatWords();
  return (
    <>
      {item.begins && (
        <p className={classes["divider"]}>
          <span>{words.beginsAnew}</span>
        </p>
      )}
      <article className={classes["user"]} data-state={item.state} aria-label={words.you}>
        {item.text !== "" && <div className={classes["bubble"]}>{item.text}</div>}
        {item.files && <SentFiles files={item.files} />}
        {item.state === "sending" && <p className={classes["state"]}>{words.sending}</p>}
        {item.state === "sent" && item.text !== "" && (
          <MessageActions
            text={item.text}
            onEdit={() => onEdit(item.text)}
            {...(canExplain && { explained: item.id })}
          />
        )}
        {item.problem && (
          <ProblemNote
            problem={item.problem}
            action={{
              label: words.sendAgain,
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
}

type AnswerProps = Props & { item: Extract<Item, { kind: "assistant" }> };

function Answer({ item, isOpen, onSend, retryText }: AnswerProps): ReactNode {
  const words = useChatWords();
  const { source, problem, onListen } = useSpokenAnswer(item.id);
  return (
    <article className={classes["assistant"]} data-state={item.state} aria-label={words.agent}>
      {item.thinking !== "" && (
        <details className={classes["thinking"]}>
          <summary>{words.thinking}</summary>
          <p>{item.thinking}</p>
        </details>
      )}
      {item.text !== "" && (
        <Suspense fallback={<div className="markdown">{item.text}</div>}>
          <Markdown text={item.text} />
        </Suspense>
      )}
      {isOpen && item.choices && (
        <Group gap="xs" mt="sm" role="group" aria-label={words.answers}>
          {item.choices.map((choice) => (
            <Button key={choice} variant="default" radius="xl" onClick={() => onSend(choice)}>
              {choice}
            </Button>
          ))}
        </Group>
      )}
      {item.state === "cut" && item.text !== "" && <p className={classes["state"]}>{words.unfinished}</p>}
      {item.state !== "streaming" && item.text !== "" && (
        <MessageActions
          text={item.text}
          {...(onListen && { onListen })}
          {...(retryText !== undefined && retryText !== "" && { onRetry: () => onSend(retryText) })}
        />
      )}
      {source !== undefined && (
        // biome-ignore lint/a11y/useMediaCaption: the answer above is the transcript
        <audio src={source} controls autoPlay aria-label={words.spoken} />
      )}
      {problem && <ProblemNote problem={problem} />}
    </article>
  );
}

function EndOfRun({ end }: { end: Extract<Item, { kind: "end" }> }): ReactNode {
  const words = useChatWords();
  const format = useFormat();
  const parts: string[] = [];
  const outcome = words.outcomes[end.outcome];
  if (outcome !== "") parts.push(outcome);
  if (end.usage !== undefined) {
    const { inputTokens, outputTokens, costMicros } = end.usage;
    parts.push(words.tokens(format.number(inputTokens), format.number(outputTokens)));
    if (costMicros !== undefined) parts.push(words.cost(format.cost(costMicros)));
  }
  if (parts.length === 0 && end.error === undefined) return null;
  return (
    <div className={classes["end"]} data-outcome={end.outcome}>
      {parts.length > 0 && <p>{parts.join(" · ")}</p>}
      {end.error !== undefined && <WhyFailed error={end.error} />}
    </div>
  );
}

/** An error. Shows the remedy, and folds the vendor's message, which can be long. */
function WhyFailed({ error }: { error: Problem }): ReactNode {
  const words = useChatWords();
  const remedy = words.remedy(error.code) ?? error.remedy;
  return (
    <>
      {remedy !== undefined && <p>{remedy}</p>}
      <details>
        <summary>{words.whyFailed(error.code)}</summary>
        <p className={classes["vendor"]}>{error.message}</p>
      </details>
    </>
  );
}
