import type { MessageInfo } from "@signalbox/client";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";

/** Messages that wait for a run, each with a link to its trace. */
export function WaitingMessages({ messages }: { messages: readonly MessageInfo[] }): ReactNode {
  const words = useWords();
  const format = useFormat();
  return (
    <ul className="rows">
      {messages.map(({ id, at, channel, account, sender, text, state }) => (
        <li key={id}>
          <Link to="/message/$id" params={{ id }}>
            <span className="row-head">
              <strong>
                <bdi>{text === "" ? "—" : text}</bdi>
              </strong>
              <span className="badge">{words.messages.states[state]}</span>
              <time dateTime={new Date(at).toISOString()}>{format.time(at)}</time>
            </span>
            <span className="about">
              {channel}/{account} · <bdi>{sender}</bdi>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
