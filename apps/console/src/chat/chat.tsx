import type { AgentInfo, Client, Connection, ConnectionState, ConversationInfo } from "@signalbox/client";
import { type ReactNode, useCallback } from "react";
import { WaitingApprovals } from "../approvals/waiting-approvals.tsx";
import { ConnectionNote } from "../parts/connection-note.tsx";
import { useWords } from "../words/words.tsx";
import { ChatHeader } from "./chat-header.tsx";
import { Composer } from "./composer.tsx";
import { Log } from "./log.tsx";
import type { Chosen } from "./use-attachments.ts";
import type { ViewActions } from "./use-views.ts";
import { isBusy, type View } from "./view.ts";

interface Props {
  client: Client;
  connection: Connection;
  state: ConnectionState;
  conversation: string;
  /** Undefined until the gateway lists it. */
  info: ConversationInfo | undefined;
  view: View;
  agents: AgentInfo[];
  agentId: string;
  demo: boolean;
  isOwner: boolean;
  /** What was written and not sent, by conversation. */
  drafts: Map<string, string>;
  actions: ViewActions;
  onBegin: (agent: string) => void;
  /** The list of conversations is another now. */
  onChanged: () => Promise<void>;
}

/** One conversation with an agent. */
export function Chat(props: Props): ReactNode {
  const { client, connection, state, conversation, view, agents, agentId, drafts, actions, onBegin } = props;
  const words = useWords();
  const agent = agents.find((each) => each.id === agentId);
  const send = useCallback(
    (text: string, files: readonly Chosen[] = []) => actions.send(conversation, agentId, text, files),
    [actions, conversation, agentId],
  );
  const dismiss = useCallback((key: string) => actions.dismiss(conversation, key), [actions, conversation]);
  return (
    <>
      <ChatHeader
        key={`header ${conversation}`}
        client={client}
        info={props.info}
        agents={agents}
        agentId={agentId}
        onBegin={onBegin}
        onChanged={props.onChanged}
      />
      {props.demo && (
        <p className="demo" role="note">
          <strong>{words.chat.demo}</strong> {words.chat.demoText}
        </p>
      )}
      <ConnectionNote state={state} onRetry={() => connection.retryNow()} />
      <Log key={conversation} view={view} agent={agent} onSend={send} onDismiss={dismiss} />
      {props.isOwner && <WaitingApprovals client={client} />}
      <Composer
        key={`composer ${conversation}`}
        client={client}
        draft={drafts.get(conversation) ?? ""}
        onDraft={(text) => drafts.set(conversation, text)}
        agentName={agent?.name ?? agentId}
        busy={isBusy(view)}
        canStop={state.kind === "open"}
        onSend={send}
        onStop={() => actions.stop(conversation)}
      />
    </>
  );
}
