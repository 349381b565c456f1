import { Loader } from "@mantine/core";
import { IconCheck, IconChevronRight, IconQuestionMark, IconX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Item } from "../conversation/item.ts";
import { useFormat } from "../words/use-format.ts";
import { useWords } from "../words/words.tsx";
import { CodeBlock } from "./code-block.tsx";
import classes from "./tool-call.module.css";

type Call = Extract<Item, { kind: "tool" }>;

const MARKS: Readonly<Record<Call["state"], ReactNode>> = {
  running: <Loader size={14} aria-hidden />,
  done: <IconCheck size={16} aria-hidden />,
  failed: <IconX size={16} aria-hidden />,
  lost: <IconQuestionMark size={16} aria-hidden />,
};

/** A tool call on one line, which unfolds to its arguments and its result. */
export function ToolCall({ call }: { call: Call }): ReactNode {
  const { tool: words } = useWords();
  const format = useFormat();
  return (
    <details className={classes["tool"]} data-state={call.state}>
      <summary>
        <span className={classes["mark"]}>{MARKS[call.state]}</span>
        <span className={classes["name"]}>{call.name}</span>
        <span className={classes["gist"]}>{getGist(call.args)}</span>
        <span className={classes["outcome"]}>
          {call.state === "done" ? (
            <span className="visually-hidden">{words.states.done}</span>
          ) : (
            words.states[call.state]
          )}
          {call.durationMs !== undefined && ` ${format.duration(call.durationMs)}`}
        </span>
        <IconChevronRight className={classes["chevron"]} size={15} aria-hidden />
      </summary>
      <div className={classes["parts"]}>
        <CodeBlock
          label={words.args}
          text={JSON.stringify(call.args, undefined, 2) ?? words.none}
          isWrapped
        />
        {call.state === "running" && call.text !== "" ? (
          <CodeBlock label={words.soFar} text={call.text} isWrapped />
        ) : call.state === "running" || call.state === "lost" ? (
          <p className={classes["state"]}>{call.state === "lost" ? words.endedWithout : words.noResultYet}</p>
        ) : (
          <CodeBlock
            label={call.state === "failed" ? words.error : words.result}
            text={call.text}
            isWrapped
          />
        )}
      </div>
    </details>
  );
}

/** Returns the first string argument as a summary of the call. */
function getGist(args: unknown): string {
  if (typeof args !== "object" || args === null) return "";
  const text = Object.values(args).find((value) => typeof value === "string");
  return typeof text === "string" ? text.slice(0, 200) : "";
}
