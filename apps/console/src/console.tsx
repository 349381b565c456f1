import {
  type Client,
  type Connection,
  type ConversationInfo,
  defaultAgent,
  type Me,
  newId,
} from "@signalbox/client";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Chat } from "./chat/chat.tsx";
import { useConnectionState } from "./chat/use-connection-state.ts";
import { useViews } from "./chat/use-views.ts";
import { EMPTY, isBusy } from "./chat/view.ts";
import { ConnectionNote } from "./parts/connection-note.tsx";
import { usePlace } from "./place.ts";
import { Sidebar } from "./sidebar.tsx";
import { useWords } from "./words/words.tsx";

/** Loaded when one of them is opened. */
const OwnerPages = lazy(async () => ({ default: (await import("./pages/owner-pages.tsx")).OwnerPages }));

interface Props {
  client: Client;
  connection: Connection;
  me: Me;
  onSignOut: () => Promise<void>;
}

/** The whole page once signed in: the chat, and for owners what else goes on in the gateway. */
export function Console({ client, connection, me, onSignOut }: Props): ReactNode {
  const words = useWords();
  const state = useConnectionState(connection);
  const { agents, demo } = state.kind === "open" ? state.ready : me;
  const isOwner = me.user.role !== "member";
  const [queries] = useState(() => new QueryClient({ defaultOptions: { queries: { retry: false } } }));
  const [listed, refresh] = useConversations(client, connection);
  const [chosen, setChosen] = useState(defaultAgent(agents)?.id ?? "");
  const [menu, setMenu] = useState(false);
  const [place, go] = usePlace();
  const [views, actions] = useViews(client, connection);
  /** Conversations begun on this page, with their agents; the gateway lists them once they have a message. */
  const begun = useRef(new Map<string, string>());
  const drafts = useRef(new Map<string, string>());

  const conversation = place.page === "chat" ? place.conversation : undefined;
  const info = listed?.find((each) => each.id === conversation);
  const agentId = info?.agent ?? begun.current.get(conversation ?? "") ?? chosen;
  const isListed = listed !== undefined;

  const begin = useCallback(
    (withAgent: string) => {
      const id = newId();
      begun.current.set(id, withAgent);
      setChosen(withAgent);
      setMenu(false);
      go({ page: "chat", conversation: id });
    },
    [go],
  );

  useEffect(() => {
    if (conversation === undefined) return;
    if (conversation === "") begin(chosen);
    // Whose conversation it is, the list says.
    else if (begun.current.has(conversation)) actions.open(conversation, agentId, true);
    else if (isListed) actions.open(conversation, agentId, false);
  }, [conversation, chosen, agentId, isListed, begin, actions]);

  useEffect(() => {
    if (conversation !== undefined) document.title = info ? `${info.title} · Signalbox` : "Signalbox";
  }, [conversation, info]);

  const busy = useMemo(
    () => new Set([...views].filter(([, each]) => isBusy(each)).map(([id]) => id)),
    [views],
  );

  return (
    <QueryClientProvider client={queries}>
      <div className="page">
        <Sidebar
          open={menu}
          conversations={listed ?? []}
          place={place}
          agents={agents}
          busy={busy}
          me={me}
          client={client}
          isOwner={isOwner}
          onClose={() => setMenu(false)}
          onNew={() => begin(agentId)}
          onSignOut={onSignOut}
        />
        <main>
          <button
            type="button"
            className="quiet menu"
            aria-label={words.sidebar.open}
            aria-expanded={menu}
            onClick={() => setMenu(true)}
          >
            ☰
          </button>
          {place.page !== "chat" && (
            <>
              <ConnectionNote state={state} onRetry={() => connection.retryNow()} />
              <Suspense fallback={<p className="sheet help">{words.loading}</p>}>
                <OwnerPages client={client} place={place} />
              </Suspense>
            </>
          )}
          {conversation !== undefined && (
            <Chat
              client={client}
              connection={connection}
              state={state}
              conversation={conversation}
              info={info}
              view={views.get(conversation) ?? EMPTY}
              agents={agents}
              agentId={agentId}
              demo={demo}
              isOwner={isOwner}
              drafts={drafts.current}
              actions={actions}
              onBegin={begin}
              onChanged={refresh}
            />
          )}
        </main>
      </div>
    </QueryClientProvider>
  );
}

/** The conversations of whoever is signed in, and a function that asks for them again. */
function useConversations(
  client: Client,
  connection: Connection,
): [ConversationInfo[] | undefined, () => Promise<void>] {
  const [listed, setListed] = useState<ConversationInfo[]>();
  const refresh = useCallback(async () => {
    // Where it cannot be had, what was listed stays; the connection's own note says enough.
    const latest = await client.conversations().catch(() => undefined);
    setListed((before) => latest ?? before ?? []);
  }, [client]);
  useEffect(() => {
    void refresh();
    return connection.onFrame(({ type }) => {
      if (type === "ready" || type === "accepted" || type === "run.end") void refresh();
    });
  }, [connection, refresh]);
  return [listed, refresh];
}
