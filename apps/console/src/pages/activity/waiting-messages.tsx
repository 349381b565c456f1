import type { MessageInfo } from "@signalbox/client";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { MessageState } from "../../parts/message-state.tsx";
import { Time } from "../../parts/time.tsx";
import classes from "./activity.module.css";

/** Messages that wait for a run, each with a link to its trace. */
export function WaitingMessages({ messages }: { messages: readonly MessageInfo[] }): ReactNode {
  return (
    <ul className={classes["rows"]}>
      {messages.map(({ id, at, channel, account, sender, senderName, text, state }) => (
        <li key={id} className={classes["row"]}>
          <div className={classes["head"]}>
            <strong>
              <Link to="/message/$id" params={{ id }}>
                <bdi>{text === "" ? "—" : text}</bdi>
              </Link>
            </strong>
            <MessageState state={state} />
            <Time at={at} />
          </div>
          <span className={classes["about"]}>
            {channel}/{account} · <bdi>{senderName ?? sender}</bdi>
          </span>
        </li>
      ))}
    </ul>
  );
}
