import { Alert } from "@mantine/core";
import type { MessageInfo, Why } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { type Fact, Facts } from "../../parts/facts.tsx";
import { MessageState } from "../../parts/message-state.tsx";
import { Loaded, Page, Section } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { useLanguage, useWords } from "../../words/words.tsx";
import classes from "./message-page.module.css";
import { whyQuery } from "./queries.ts";
import { Timeline } from "./timeline.tsx";
import { useMessageWords } from "./words.ts";

const route = getRouteApi("/message/$id");

/** Explains the outcome of one message in a sentence and as a timeline. */
export function MessagePage(): ReactNode {
  const { pages } = useWords();
  const { id } = route.useParams();
  const [language] = useLanguage();
  const query = useQuery(whyQuery(useClient(), id, language));
  const state = query.data?.trace.message?.state;
  return (
    <Page title={pages.message} actions={state && <MessageState state={state} />}>
      <Loaded query={query}>{(why) => <Explanation why={why} />}</Loaded>
    </Page>
  );
}

function Explanation({ why: { trace, sentence, said, remedy } }: { why: Why }): ReactNode {
  const words = useMessageWords();
  const { message, entries } = trace;
  const hasFailed = message?.state.includes("reported") === true;
  return (
    <>
      {message && message.text !== "" && (
        <blockquote className={classes["quoted"]}>{message.text}</blockquote>
      )}
      <Alert color={hasFailed ? "red" : "signal"} title={sentence}>
        {remedy}
      </Alert>
      {said !== undefined && <CodeBlock label="" text={said} isWrapped />}
      {message && <MessageFacts message={message} />}
      <Section title={words.timeline}>
        <Timeline entries={entries} cameAt={message?.at} />
      </Section>
    </>
  );
}

function MessageFacts({ message }: { message: MessageInfo }): ReactNode {
  const words = useMessageWords();
  const { channel, account, conversation, sender, senderName, agent, sessionKey, rule, at, id } = message;
  const optional = (name: string, value: ReactNode): Fact[] => (value === undefined ? [] : [{ name, value }]);
  const facts: Fact[] = [
    {
      name: words.from,
      value: (
        <>
          {senderName !== undefined && <bdi>{senderName} · </bdi>}
          <bdi>{sender}</bdi>
        </>
      ),
    },
    {
      name: words.where,
      value: (
        <>
          {channel}/{account} <bdi>{conversation}</bdi>
        </>
      ),
    },
    { name: words.received, value: <Time at={at} /> },
    ...optional(words.agent, agent),
    ...optional(
      words.session,
      sessionKey && (
        <Link to="/session/$key" params={{ key: sessionKey }}>
          {sessionKey}
        </Link>
      ),
    ),
    ...optional(words.rule, rule && <code>{rule}</code>),
    { name: "id", value: <code>{id}</code> },
  ];
  return <Facts facts={facts} />;
}
