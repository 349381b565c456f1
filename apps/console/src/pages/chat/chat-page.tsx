import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode, useCallback, useEffect } from "react";
import { WaitingApprovals } from "../../approvals/waiting-approvals.tsx";
import { useConversations } from "../../conversation/conversations.tsx";
import type { Uploaded } from "../../conversation/item.ts";
import { isBusy } from "../../conversation/view.ts";
import { useConnectionState, useGateway } from "../../gateway.tsx";
import { useWords } from "../../words/words.tsx";
import { ChatHeader } from "./chat-header.tsx";
import { Composer } from "./composer.tsx";
import { Log } from "./log.tsx";

const route = getRouteApi("/c/$conversation");

/** One conversation with an agent. */
export function ChatPage(): ReactNode {
  const words = useWords();
  const { me } = useGateway();
  const state = useConnectionState();
  const { conversation } = route.useParams();
  const { listed, agents, actions, drafts, open, agentOf, viewOf, attachmentsOf } = useConversations();
  const info = listed.find(({ id }) => id === conversation);
  const agentId = agentOf(conversation);
  const agent = agents.find(({ id }) => id === agentId);
  const view = viewOf(conversation);

  useEffect(() => open(conversation), [open, conversation]);
  useEffect(() => {
    document.title = info === undefined ? "Signalbox" : `${info.title} · Signalbox`;
  }, [info]);

  const send = useCallback(
    (text: string, files: readonly Uploaded[] = []) => actions.send(conversation, agentId, text, files),
    [actions, conversation, agentId],
  );
  const dismiss = useCallback((key: string) => actions.dismiss(conversation, key), [actions, conversation]);

  return (
    <>
      <ChatHeader key={`header ${conversation}`} info={info} agentId={agentId} />
      {agents.some(({ demo }) => demo) && (
        <p className="demo" role="note">
          <strong>{words.chat.demo}</strong> {words.chat.demoText}
        </p>
      )}
      <Log key={conversation} view={view} agent={agent} onSend={send} onDismiss={dismiss} />
      {me.user.role !== "member" && <WaitingApprovals />}
      <Composer
        key={`composer ${conversation}`}
        draft={drafts.get(conversation) ?? ""}
        onDraft={(text) => drafts.set(conversation, text)}
        attachments={attachmentsOf(conversation)}
        agentName={agent?.name ?? agentId}
        isBusy={isBusy(view)}
        canStop={state.kind === "open"}
        onSend={send}
        onStop={() => actions.stop(conversation)}
      />
    </>
  );
}
