import { type AgentInfo, type ConversationInfo, defaultAgent, newId } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { useConnectionState, useGateway } from "../gateway.tsx";
import { conversationsQuery } from "../queries.ts";
import { Attachments } from "./attachments.ts";
import { useViews, type ViewActions } from "./use-views.ts";
import { EMPTY, isBusy, type View } from "./view.ts";

/** The conversations of whoever is signed in, which stay as they are while another page is looked at. */
export interface Conversations {
  /** The latest first. */
  listed: readonly ConversationInfo[];
  agents: readonly AgentInfo[];
  /** Conversations in which an agent is at work. */
  busy: ReadonlySet<string>;
  actions: ViewActions;
  /** What was written and not sent, by conversation. */
  drafts: Map<string, string>;
  /** The files that were chosen for its next message. */
  attachmentsOf(conversation: string): Attachments;
  viewOf(conversation: string): View;
  agentOf(conversation: string): string;
  /** Shows a conversation from now on. */
  open(conversation: string): void;
  /** Goes to a conversation that is new, with the agent chosen last where none is named. */
  begin(agent?: string, options?: { replace: boolean }): void;
  refresh(): Promise<unknown>;
}

const Context = createContext<Conversations | undefined>(undefined);

export function useConversations(): Conversations {
  const conversations = useContext(Context);
  if (conversations === undefined) throw new Error("There are no conversations here.");
  return conversations;
}

export function ConversationsProvider({ children }: { children: ReactNode }): ReactNode {
  const { client, connection, me } = useGateway();
  const state = useConnectionState();
  const { agents } = state.kind === "open" ? state.ready : me;
  const navigate = useNavigate();
  const [chosen, setChosen] = useState(defaultAgent(agents)?.id ?? "");
  const [views, actions] = useViews(client, connection);
  /** Conversations begun on this page, with their agents; the gateway lists them once they have a message. */
  const begun = useRef(new Map<string, string>());
  const drafts = useRef(new Map<string, string>());
  const attachments = useRef(new Map<string, Attachments>());
  const { data: listed, isFetched, refetch } = useQuery(conversationsQuery(client));

  useEffect(() => {
    const all = attachments.current;
    return () => {
      for (const each of all.values()) each.close();
    };
  }, []);
  useEffect(
    () =>
      connection.onFrame(({ type }) => {
        if (type === "ready" || type === "accepted" || type === "run.end") void refetch();
      }),
    [connection, refetch],
  );

  const agentOf = useCallback(
    (conversation: string) =>
      listed?.find(({ id }) => id === conversation)?.agent ?? begun.current.get(conversation) ?? chosen,
    [listed, chosen],
  );
  const open = useCallback(
    (conversation: string) => {
      const isNew = begun.current.has(conversation);
      // Whose conversation it is, the list says.
      if (isNew || isFetched) actions.open(conversation, agentOf(conversation), isNew);
    },
    [actions, agentOf, isFetched],
  );
  const begin = useCallback<Conversations["begin"]>(
    (agent = chosen, { replace } = { replace: false }) => {
      const conversation = newId();
      begun.current.set(conversation, agent);
      setChosen(agent);
      void navigate({ to: "/c/$conversation", params: { conversation }, replace });
    },
    [navigate, chosen],
  );
  const attachmentsOf = useCallback(
    (conversation: string) => {
      const own = attachments.current.get(conversation) ?? new Attachments(client);
      attachments.current.set(conversation, own);
      return own;
    },
    [client],
  );
  const busy = useMemo(
    () => new Set([...views].filter(([, each]) => isBusy(each)).map(([id]) => id)),
    [views],
  );

  const conversations: Conversations = {
    listed: listed ?? [],
    agents,
    busy,
    actions,
    drafts: drafts.current,
    attachmentsOf,
    viewOf: (conversation) => views.get(conversation) ?? EMPTY,
    agentOf,
    open,
    begin,
    refresh: refetch,
  };
  return <Context value={conversations}>{children}</Context>;
}
