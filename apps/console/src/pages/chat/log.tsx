import { Avatar, Button } from "@mantine/core";
import type { AgentInfo } from "@signalbox/client";
import { IconArrowDown } from "@tabler/icons-react";
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Uploaded } from "../../conversation/item.ts";
import { isBusy, type View } from "../../conversation/view.ts";
import classes from "./log.module.css";
import { LogItem } from "./log-item.tsx";
import { useChatWords } from "./words.ts";

interface Props {
  view: View;
  agent: AgentInfo | undefined;
  onSend: (text: string, files?: readonly Uploaded[]) => void;
  /** Puts a text into the input. */
  onEdit: (text: string) => void;
  onDismiss: (key: string) => void;
  /** Links messages to the page that explains them. */
  canExplain: boolean;
}

/** Distance from the end, in pixels, within which the log follows new content. */
const NEAR = 80;

/** The messages of a conversation. Follows new content unless the user has scrolled up. */
export function Log({ view, agent, onSend, onEdit, onDismiss, canExplain }: Props): ReactNode {
  const words = useChatWords();
  const box = useRef<HTMLDivElement>(null);
  const entries = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const [away, setAway] = useState(false);
  const last = view.items.at(-1);
  const lastUserItem = view.items.findLastIndex(({ kind }) => kind === "user");
  const lastAnswer = view.items.findLastIndex(({ kind }) => kind === "assistant");
  const asked = view.items[lastUserItem];
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
    <div className={classes["frame"]}>
      <div
        className={classes["log"]}
        role="log"
        aria-label={words.conversation}
        ref={box}
        onScroll={onScroll}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
        tabIndex={0}
      >
        <div className={classes["entries"]} ref={entries}>
          {view.loaded && view.items.length === 0 && <Welcome agent={agent} onSend={onSend} />}
          {view.items.map((item, place) => (
            <LogItem
              key={item.key}
              item={item}
              isOpen={isBusy(view) && place > lastUserItem}
              onSend={onSend}
              onEdit={onEdit}
              onDismiss={onDismiss}
              canExplain={canExplain}
              {...(place === lastAnswer &&
                asked?.kind === "user" &&
                !isBusy(view) && { retryText: asked.text })}
            />
          ))}
          {isBusy(view) && !isWriting && (
            <p className={classes["working"]}>
              <span className={classes["dots"]} aria-hidden="true">
                <i /> <i /> <i />
              </span>
              <span className="visually-hidden">{words.working}</span>
            </p>
          )}
        </div>
      </div>
      {away && (
        <Button
          className={classes["latest"] ?? ""}
          variant="default"
          size="xs"
          radius="xl"
          rightSection={<IconArrowDown size={14} aria-hidden />}
          onClick={() => {
            follows.current = true;
            toEnd();
          }}
        >
          {words.latest}
        </Button>
      )}
    </div>
  );
}

interface WelcomeProps {
  agent: AgentInfo | undefined;
  onSend: (text: string) => void;
}

function Welcome({ agent, onSend }: WelcomeProps): ReactNode {
  const words = useChatWords();
  if (agent === undefined) return <p className={classes["welcome"]}>{words.noAgent}</p>;
  return (
    <div className={classes["welcome"]}>
      <Avatar size={56} color="signal" name={agent.name} aria-hidden />
      <h2>
        <bdi>{agent.name}</bdi>
      </h2>
      <p>{words.welcome}</p>
      {agent.demo && (
        <ul aria-label={words.examples}>
          {words.demoMessages.map((example) => (
            <li key={example}>
              <Button variant="default" radius="xl" onClick={() => onSend(example)}>
                {example}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
