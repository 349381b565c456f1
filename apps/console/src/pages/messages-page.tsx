import type { Client, MessageInfo } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Loaded, Page } from "../parts/page.tsx";
import { hashOf } from "../place.ts";
import { useFormat } from "../words/use-format.ts";
import { useWords } from "../words/words.tsx";

/** Often enough to watch messages come in. */
const EVERY_MS = 3_000;

/** The latest messages of all channels or of one session, each leading to its way. */
export function MessagesPage({
  client,
  session,
}: {
  client: Client;
  session: string | undefined;
}): ReactNode {
  const words = useWords();
  const query = useQuery({
    queryKey: ["messages", session],
    queryFn: () => client.latestMessages(session),
    refetchInterval: EVERY_MS,
  });
  return (
    <Page title={words.pages.messages}>
      {session !== undefined && (
        <p>
          {words.messages.ofSession} <code>{session}</code>{" "}
          <a href={hashOf({ page: "messages" })}>{words.messages.all}</a>
        </p>
      )}
      <Loaded query={query}>{(messages) => <MessageList messages={messages} />}</Loaded>
    </Page>
  );
}

function MessageList({ messages }: { messages: MessageInfo[] }): ReactNode {
  const words = useWords();
  const format = useFormat();
  if (messages.length === 0) return <p className="help">{words.messages.none}</p>;
  return (
    <ul className="rows">
      {messages.map(({ id, at, channel, account, sender, text, state, rule }) => (
        <li key={id}>
          <a href={hashOf({ page: "message", id })}>
            <span className="row-head">
              <strong>{text === "" ? "—" : text}</strong>
              <span className={`badge ${state}`}>{words.messages.states[state]}</span>
              <time dateTime={new Date(at).toISOString()}>{format.time(at)}</time>
            </span>
            <span className="about">
              {channel}/{account} · {sender}
              {rule !== undefined && ` · ${rule}`}
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}
