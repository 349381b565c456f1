import type { SessionInfo } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { Loaded, Page } from "../../parts/page.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { sessionsQuery } from "../../queries.ts";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";

/** Sessions of all channels, each with a link to its messages. */
export function SessionsPage(): ReactNode {
  const words = useWords();
  const [wanted, setWanted] = useState("");
  const query = useQuery(sessionsQuery(useClient()));
  return (
    <Page title={words.pages.sessions}>
      <SearchField label={words.sessions.search} wanted={wanted} onSearch={setWanted} />
      <Loaded query={query}>
        {(sessions) => <SessionList sessions={sessions.filter((each) => isAbout(each, wanted))} />}
      </Loaded>
    </Page>
  );
}

function SessionList({ sessions }: { sessions: SessionInfo[] }): ReactNode {
  const words = useWords();
  const format = useFormat();
  const sum = (of: (session: SessionInfo) => number) => sessions.reduce((total, each) => total + of(each), 0);
  if (sessions.length === 0) return <p className="help">{words.sessions.none}</p>;
  return (
    <>
      <p className="help">
        {words.sessions.totals(
          format.number(sessions.length),
          format.number(sum(({ tokens }) => tokens)),
          format.cost(sum(({ costMicros }) => costMicros)),
        )}
      </p>
      <ul className="rows">
        {sessions.map((session) => (
          <li key={session.key}>
            <Link to="/messages/{-$session}" params={{ session: session.key }}>
              <span className="row-head">
                <strong>
                  <bdi>{session.title ?? session.peer}</bdi>
                </strong>
                {session.busy && <span className="badge running">{words.sessions.working}</span>}
                <time dateTime={new Date(session.updatedAt).toISOString()}>
                  {format.time(session.updatedAt)}
                </time>
              </span>
              <span className="about">
                {session.channel}/{session.account} · {session.kind} · {session.agent}
              </span>
              <span className="about">
                {words.sessions.about(
                  format.number(session.messages),
                  format.number(session.tokens),
                  format.cost(session.costMicros),
                )}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

function isAbout({ key, title = "", channel, agent }: SessionInfo, wanted: string): boolean {
  const text = `${title} ${channel} ${agent} ${key}`.toLocaleLowerCase();
  return text.includes(wanted.trim().toLocaleLowerCase());
}
