import type { ConfigurationState, Status } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { Facts, Loaded, Page } from "../../parts/page.tsx";
import { statusQuery } from "../../queries.ts";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";

/** State of the gateway and its channels. */
export function ChannelsPage(): ReactNode {
  const words = useWords();
  const query = useQuery(statusQuery(useClient()));
  return (
    <Page title={words.pages.channels}>
      <Loaded query={query}>{(status) => <StatusOf status={status} />}</Loaded>
    </Page>
  );
}

function StatusOf({ status }: { status: Status }): ReactNode {
  const words = useWords();
  const format = useFormat();
  const { version, startedAt, inboxPending, outboxPending, channels, agents } = status;
  return (
    <>
      <h3>{words.channels.accounts}</h3>
      {channels.length === 0 && <p className="help">{words.channels.none}</p>}
      <ul className="rows" hidden={channels.length === 0}>
        {channels.map(({ channel, account, state, reason }) => (
          <li key={`${channel} ${account}`}>
            <span className="row-head">
              <strong>
                {channel}/{account}
              </strong>
              <span className={`badge ${state}`}>{state}</span>
            </span>
            {reason !== undefined && <span className="about">{reason}</span>}
          </li>
        ))}
      </ul>
      <ConfigurationNotes {...status.configuration} />
      <h3>{words.channels.gateway}</h3>
      <Facts
        facts={[
          { name: words.channels.version, value: version },
          { name: words.channels.runningSince, value: format.time(startedAt) },
          { name: words.channels.inbox, value: format.number(inboxPending) },
          { name: words.channels.outbox, value: format.number(outboxPending) },
        ]}
      />
      <h3>{words.channels.agents}</h3>
      <ul className="rows">
        {agents.map(({ id, name, model, demo }) => (
          <li key={id}>
            <span className="row-head">
              <strong>{name}</strong>
              {demo && <span className="badge">{words.channels.demo}</span>}
            </span>
            <span className="about">
              {id} · {model}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Changes to the configuration file that are not applied, if any. */
function ConfigurationNotes({ forStart, kept }: ConfigurationState): ReactNode {
  const { channels: words } = useWords();
  if (forStart.length + kept.length === 0) return null;
  return (
    <>
      <h3>{words.configuration}</h3>
      {forStart.length > 0 && <p className="help">{words.forStart(forStart.join(", "))}</p>}
      {kept.length > 0 && <p className="help">{words.kept(kept.join(", "))}</p>}
    </>
  );
}
