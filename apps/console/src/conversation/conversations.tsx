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
import { useScopes } from "../parts/use-scopes.ts";
import { Attachments } from "./attachments.ts";
import { conversationsQuery } from "./queries.ts";
import { useViews, type ViewActions } from "./use-views.ts";
import { EMPTY, isBusy, type View } from "./view.ts";

/** State of the user's conversations. It survives navigation to other pages. */
export interface Conversations {
  /** Latest first. */
  listed: readonly ConversationInfo[];
  agents: readonly AgentInfo[];
  /** Conversations with a current run. */
  busy: ReadonlySet<string>;
  actions: ViewActions;
  /** Unsent text by conversation. */
  drafts: Map<string, string>;
  /** Returns the files for the next message of a conversation. */
  attachmentsOf(conversation: string): Attachments;
  viewOf(conversation: string): View;
  agentOf(conversation: string): string;
  /** Loads a conversation and subscribes to it. */
  open(conversation: string): void;
  /** Opens a new conversation. Default agent: the one that was used last. */
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
  /** New conversations with their agents. The gateway lists a conversation once it has a message. */
  const begun = useRef(new Map<string, string>());
  const drafts = useRef(new Map<string, string>());
  const attachments = useRef(new Map<string, Attachments>());
  const canChat = useScopes().has("chat");
  const { data: listed, isFetched, refetch } = useQuery({ ...conversationsQuery(client), enabled: canChat });

  useEffect(() => {
    const all = attachments.current;
    return () => {
      for (const each of all.values()) each.close();
    };
  }, []);
  useEffect(
    () =>
      connection.onFrame(({ type }) => {
        if (!canChat) return;
        if (type === "ready" || type === "accepted" || type === "run.end") void refetch();
      }),
    [connection, refetch, canChat],
  );

  const agentOf = useCallback(
    (conversation: string) =>
      listed?.find(({ id }) => id === conversation)?.agent ?? begun.current.get(conversation) ?? chosen,
    [listed, chosen],
  );
  const open = useCallback(
    (conversation: string) => {
      const isNew = begun.current.has(conversation);
      // The list names the agent of an existing conversation, so wait for it.
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
