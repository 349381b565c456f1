import { Alert, Code, Text } from "@mantine/core";
import { IconFlask } from "@tabler/icons-react";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useState } from "react";
import { useConversations } from "../../conversation/conversations.tsx";
import type { Uploaded } from "../../conversation/item.ts";
import { isBusy } from "../../conversation/view.ts";
import { useConnectionState } from "../../gateway.tsx";
import { TextLink } from "../../parts/links.tsx";
import { useScopes } from "../../parts/use-scopes.ts";
import { ChatHeader } from "./chat-header.tsx";
import { Composer } from "./composer.tsx";
import { Log } from "./log.tsx";
import { useChatWords } from "./words.ts";

/** Loaded after the page, because only owners decide approvals. */
const WaitingApprovals = lazy(async () => ({
  default: (await import("../../approvals/waiting-approvals.tsx")).WaitingApprovals,
}));

/** Loaded after the page, because only owners choose models. */
const ModelPicker = lazy(async () => ({ default: (await import("./model-picker.tsx")).ModelPicker }));

const route = getRouteApi("/c/$conversation");

/** One conversation with an agent. */
export function ChatPage(): ReactNode {
  const words = useChatWords();
  const scopes = useScopes();
  const state = useConnectionState();
  const { conversation } = route.useParams();
  const { listed, agents, actions, drafts, open, agentOf, viewOf, attachmentsOf } = useConversations();
  const info = listed.find(({ id }) => id === conversation);
  const agentId = agentOf(conversation);
  const agent = agents.find(({ id }) => id === agentId);
  const view = viewOf(conversation);
  /** Counts how often a message was put into the input again. The input is created again each time. */
  const [edits, setEdits] = useState(0);

  useEffect(() => open(conversation), [open, conversation]);
  useEffect(() => {
    document.title = info === undefined ? "Signalbox" : `${info.title} · Signalbox`;
  }, [info]);

  const send = useCallback(
    (text: string, files: readonly Uploaded[] = []) => actions.send(conversation, agentId, text, files),
    [actions, conversation, agentId],
  );
  const dismiss = useCallback((key: string) => actions.dismiss(conversation, key), [actions, conversation]);
  const edit = useCallback(
    (text: string) => {
      drafts.set(conversation, text);
      setEdits((count) => count + 1);
    },
    [drafts, conversation],
  );

  return (
    <>
      <ChatHeader key={`header ${conversation}`} info={info} agentId={agentId}>
        {scopes.has("read") && agent !== undefined && (
          <Suspense fallback={<Text size="sm">{info?.model ?? agent.model}</Text>}>
            <ModelPicker
              agentModel={agent.model}
              chosen={info?.model}
              onChoose={(model) => send(`/model ${model}`)}
            />
          </Suspense>
        )}
      </ChatHeader>
      {agents.some(({ demo }) => demo) && (
        <Alert
          role="note"
          color="yellow"
          radius={0}
          py={6}
          icon={<IconFlask size={18} aria-hidden />}
          flex="none"
        >
          <strong>{words.demo}</strong> {words.demoText}{" "}
          {scopes.has("owner") ? (
            <TextLink to="/setup" c="inherit" inherit underline="always">
              {words.setUpModel}
            </TextLink>
          ) : (
            <Code>signalbox init</Code>
          )}
        </Alert>
      )}
      <Log
        key={conversation}
        view={view}
        agent={agent}
        onSend={send}
        onEdit={edit}
        onDismiss={dismiss}
        canExplain={scopes.has("read")}
      />
      {scopes.has("read") && (
        <Suspense>
          <WaitingApprovals isInChat />
        </Suspense>
      )}
      <Composer
        key={`composer ${conversation} ${edits}`}
        draft={drafts.get(conversation) ?? ""}
        onDraft={(text) => drafts.set(conversation, text)}
        attachments={attachmentsOf(conversation)}
        agentId={agentId}
        agentName={agent?.name ?? agentId}
        isBusy={isBusy(view)}
        canStop={state.kind === "open"}
        onSend={send}
        onStop={() => actions.stop(conversation)}
      />
    </>
  );
}
