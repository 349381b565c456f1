import {
  type Client,
  type Connection,
  type ConversationInfo,
  defaultAgent,
  type Me,
  newId,
} from "@signalbox/client";
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Composer } from "./composer.tsx";
import { ConnectionNote } from "./connection-note.tsx";
import { Log } from "./log.tsx";
import { Sidebar } from "./sidebar.tsx";
import { useConnectionState } from "./use-connection-state.ts";
import { useConversationId } from "./use-conversation-id.ts";
import { useViews } from "./use-views.ts";
import { EMPTY, isBusy } from "./view.ts";

interface Props {
  client: Client;
  connection: Connection;
  me: Me;
  onSignOut: () => Promise<void>;
}

/** The whole page once signed in. */
export function ChatPage({ client, connection, me, onSignOut }: Props): ReactNode {
  const state = useConnectionState(connection);
  const { agents, demo } = state.kind === "open" ? state.ready : me;
  const [listed, setListed] = useState<ConversationInfo[]>();
  const [chosen, setChosen] = useState(defaultAgent(agents)?.id ?? "");
  const [menu, setMenu] = useState(false);
  const [conversation, go] = useConversationId();
  const [views, actions] = useViews(client, connection);
  /** Conversations begun on this page, with their agents; the gateway lists them once they have a message. */
  const begun = useRef(new Map<string, string>());
  const drafts = useRef(new Map<string, string>());

  const info = listed?.find((each) => each.id === conversation);
  const agentId = info?.agent ?? begun.current.get(conversation) ?? chosen;
  const agent = agents.find((each) => each.id === agentId);
  const isListed = listed !== undefined;
  const view = views.get(conversation) ?? EMPTY;

  const refresh = useCallback(async () => {
    // Where it cannot be had, what is known stays; the connection's own note says enough.
    const latest = await client.conversations().catch(() => undefined);
    setListed((known) => latest ?? known ?? []);
  }, [client]);

  useEffect(() => {
    void refresh();
    return connection.onFrame(({ type }) => {
      if (type === "ready" || type === "accepted" || type === "run.end") void refresh();
    });
  }, [connection, refresh]);

  const begin = useCallback(
    (withAgent: string) => {
      const id = newId();
      begun.current.set(id, withAgent);
      setChosen(withAgent);
      setMenu(false);
      go(id);
    },
    [go],
  );

  useEffect(() => {
    if (conversation === "") begin(chosen);
    // Whose conversation it is, the list says.
    else if (begun.current.has(conversation)) actions.open(conversation, agentId, true);
    else if (isListed) actions.open(conversation, agentId, false);
  }, [conversation, chosen, agentId, isListed, begin, actions]);

  useEffect(() => {
    document.title = info ? `${info.title} · Signalbox` : "Signalbox";
  }, [info]);

  const busy = useMemo(
    () => new Set([...views].filter(([, each]) => isBusy(each)).map(([id]) => id)),
    [views],
  );
  const send = useCallback(
    (text: string) => actions.send(conversation, agentId, text),
    [actions, conversation, agentId],
  );
  const dismiss = useCallback((key: string) => actions.dismiss(conversation, key), [actions, conversation]);

  return (
    <div className="page">
      <Sidebar
        open={menu}
        conversations={listed ?? []}
        current={conversation}
        agents={agents}
        busy={busy}
        me={me}
        onClose={() => setMenu(false)}
        onNew={() => begin(agentId)}
        onSignOut={onSignOut}
      />
      <main>
        <header>
          <button
            type="button"
            className="quiet menu"
            aria-label="Conversations"
            aria-expanded={menu}
            onClick={() => setMenu(true)}
          >
            ☰
          </button>
          <label className="agent">
            <span className="hidden">Agent</span>
            <select value={agentId} onChange={(event) => begin(event.target.value)}>
              {agent === undefined && <option value={agentId}>{agentId}</option>}
              {agents.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          {agent && <span className="model">{agent.model}</span>}
        </header>
        {demo && (
          <p className="demo" role="note">
            <strong>Demo.</strong> No model key is set, so a small offline program answers. Its tools are
            real.
          </p>
        )}
        <ConnectionNote state={state} onRetry={() => connection.retryNow()} />
        <Log key={conversation} view={view} agent={agent} onSend={send} onDismiss={dismiss} />
        <Composer
          key={`composer ${conversation}`}
          draft={drafts.current.get(conversation) ?? ""}
          onDraft={(text) => drafts.current.set(conversation, text)}
          agentName={agent?.name ?? agentId}
          busy={isBusy(view)}
          canStop={state.kind === "open"}
          onSend={send}
          onStop={() => actions.stop(conversation)}
        />
      </main>
    </div>
  );
}
