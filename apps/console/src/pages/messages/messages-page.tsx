import type { MessageInfo } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { Loaded, Page } from "../../parts/page.tsx";
import { messagesQuery } from "../../queries.ts";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";

const route = getRouteApi("/messages/{-$session}");

/** Latest messages of all channels or of one session, each with a link to its trace. */
export function MessagesPage(): ReactNode {
  const words = useWords();
  const { session } = route.useParams();
  const query = useQuery(messagesQuery(useClient(), session));
  return (
    <Page title={words.pages.messages}>
      {session !== undefined && (
        <p>
          {words.messages.ofSession} <code>{session}</code>{" "}
          <Link to="/messages/{-$session}" params={{ session: undefined }}>
            {words.messages.all}
          </Link>
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
          <Link to="/message/$id" params={{ id }}>
            <span className="row-head">
              <strong>
                <bdi>{text === "" ? "—" : text}</bdi>
              </strong>
              <span className={`badge ${state}`}>{words.messages.states[state]}</span>
              <time dateTime={new Date(at).toISOString()}>{format.time(at)}</time>
            </span>
            <span className="about">
              {channel}/{account} · <bdi>{sender}</bdi>
              {rule !== undefined && ` · ${rule}`}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
