import { Avatar } from "@mantine/core";
import type { ConversationHistory } from "@signalbox/client";
import { IconRobot } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import { itemOf } from "../../conversation/item.ts";
import { Time } from "../../parts/time.tsx";
import { ToolCall } from "../../parts/tool-call.tsx";
import classes from "./transcript.module.css";
import { useSessionWords } from "./words.ts";

const Markdown = lazy(async () => ({ default: (await import("../../markdown/markdown.tsx")).Markdown }));

type Message = ConversationHistory["messages"][number];

/**
 * The messages of a session, with the names of their senders and the tool calls of the agent.
 *
 * @param pages latest first
 */
export function Transcript({ pages }: { pages: readonly ConversationHistory[] }): ReactNode {
  // The ids of messages are unique on a page.
  const messages = pages
    .toReversed()
    .flatMap((page) => page.messages.map((message) => ({ message, page: page.before ?? "first" })));
  return (
    <ol className={classes["transcript"]} data-transcript>
      {messages.map(({ message, page }) => {
        const item = itemOf(message);
        if (item === undefined) return null;
        return (
          <li key={`${page} ${message.role} ${item.key}`} data-role={message.role}>
            {item.kind === "tool" ? <ToolCall call={item} /> : <Spoken message={message} />}
          </li>
        );
      })}
    </ol>
  );
}

function Spoken({
  message: { id, role, text, sender, at, attachments = [] },
}: {
  message: Message;
}): ReactNode {
  const words = useSessionWords();
  const isUser = role === "user";
  const files = attachments.map(({ name, mimeType }) => name ?? mimeType);
  return (
    <article className={classes["message"]}>
      <Avatar
        size={28}
        color={isUser ? "blue" : "signal"}
        aria-hidden
        {...(isUser && { name: sender ?? "?" })}
      >
        {!isUser && <IconRobot size={16} />}
      </Avatar>
      <div className={classes["body"]}>
        <header>
          <strong>
            <bdi>{isUser ? (sender ?? words.you) : words.agent}</bdi>
          </strong>
          {isUser ? (
            <Link to="/message/$id" params={{ id }}>
              <Time at={at} />
            </Link>
          ) : (
            <Time at={at} />
          )}
        </header>
        {isUser ? (
          <p className={classes["text"]}>
            <bdi>{text}</bdi>
          </p>
        ) : (
          <Suspense fallback={<div className="markdown">{text}</div>}>
            <Markdown text={text} />
          </Suspense>
        )}
        {files.length > 0 && <small>{files.join(", ")}</small>}
      </div>
    </article>
  );
}
