import type { AgentInfo } from "@signalbox/client";
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Uploaded } from "../../conversation/item.ts";
import { isBusy, type View } from "../../conversation/view.ts";
import { useWords } from "../../words/words.tsx";
import { LogItem } from "./log-item.tsx";

interface Props {
  view: View;
  agent: AgentInfo | undefined;
  onSend: (text: string, files?: readonly Uploaded[]) => void;
  onDismiss: (key: string) => void;
}

/** Example messages for the demo model. */
const EXAMPLES = [
  "list files",
  "remember that tea is at four",
  "帮我写一个 Python 脚本，功能是遍历当前目录所有文件",
];

/** Distance from the end, in pixels, within which the log follows new content. */
const NEAR = 80;

/** The messages of a conversation. Follows new content unless the user has scrolled up. */
export function Log({ view, agent, onSend, onDismiss }: Props): ReactNode {
  const { chat: words } = useWords();
  const box = useRef<HTMLDivElement>(null);
  const entries = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const [away, setAway] = useState(false);
  const last = view.items.at(-1);
  const lastSaid = view.items.findLastIndex(({ kind }) => kind === "user");
  const isWriting = last?.kind === "assistant" && last.state === "streaming";

  const toEnd = useCallback(() => {
    const element = box.current;
    if (element) element.scrollTop = element.scrollHeight;
  }, []);

  // The log also grows without new items: Markdown is parsed later, images load, and the user unfolds details.
  useLayoutEffect(() => {
    if (entries.current === null) return;
    const observer = new ResizeObserver(() => follows.current && toEnd());
    observer.observe(entries.current);
    return () => observer.disconnect();
  }, [toEnd]);

  // Always scroll to a message that the user sends.
  const lastKey = last?.kind === "user" && last.state === "sending" ? last.key : undefined;
  useEffect(() => {
    if (lastKey === undefined) return;
    follows.current = true;
    toEnd();
  }, [lastKey, toEnd]);

  const onScroll = () => {
    const element = box.current;
    if (!element) return;
    follows.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
    setAway(!follows.current);
  };

  return (
    <div className="log-frame">
      <div
        className="log"
        role="log"
        aria-label={words.conversation}
        ref={box}
        onScroll={onScroll}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
        tabIndex={0}
      >
        <div className="entries" ref={entries}>
          {view.loaded && view.items.length === 0 && <Welcome agent={agent} onSend={onSend} />}
          {view.items.map((item, place) => (
            <LogItem
              key={item.key}
              item={item}
              isOpen={isBusy(view) && place > lastSaid}
              onSend={onSend}
              onDismiss={onDismiss}
            />
          ))}
          {isBusy(view) && !isWriting && (
            <p className="working">
              <span className="dots" aria-hidden="true">
                <i /> <i /> <i />
              </span>
              <span className="hidden">{words.working}</span>
            </p>
          )}
        </div>
      </div>
      {away && (
        <button
          type="button"
          className="latest"
          onClick={() => {
            follows.current = true;
            toEnd();
          }}
        >
          {words.latest}
        </button>
      )}
    </div>
  );
}

function Welcome({
  agent,
  onSend,
}: {
  agent: AgentInfo | undefined;
  onSend: (text: string) => void;
}): ReactNode {
  const { chat: words } = useWords();
  if (agent === undefined) return <p className="welcome">{words.noAgent}</p>;
  return (
    <div className="welcome">
      <h2>{agent.name}</h2>
      <p>{words.welcome}</p>
      {agent.demo && (
        <ul aria-label={words.examples}>
          {EXAMPLES.map((example) => (
            <li key={example}>
              <button type="button" className="quiet" onClick={() => onSend(example)}>
                {example}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
