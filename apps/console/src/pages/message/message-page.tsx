import type { MessageInfo, Why } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { type Fact, Facts, Loaded, Page } from "../../parts/page.tsx";
import { whyQuery } from "../../queries.ts";
import type { Words } from "../../words/en.ts";
import { useFormat } from "../../words/use-format.ts";
import { useLanguage, useWords } from "../../words/words.tsx";
import { type Step, stepsOf } from "./waterfall.ts";

const route = getRouteApi("/message/$id");

/** Explains the outcome of one message in a sentence and as a timeline. */
export function MessagePage(): ReactNode {
  const words = useWords();
  const { id } = route.useParams();
  const [language] = useLanguage();
  const query = useQuery(whyQuery(useClient(), id, language));
  return (
    <Page title={words.pages.message}>
      <Loaded query={query}>{(why) => <Explained why={why} />}</Loaded>
    </Page>
  );
}

function Explained({ why }: { why: Why }): ReactNode {
  const words = useWords();
  const { message, entries } = why.trace;
  const steps = stepsOf(entries, message?.at);
  return (
    <>
      {message && <blockquote className="quoted">{message.text}</blockquote>}
      <p className="sentence">{why.sentence}</p>
      {why.said !== undefined && <CodeBlock label="" text={why.said} />}
      {why.remedy !== undefined && <p>{why.remedy}</p>}
      {message && <Facts facts={factsOf(message, words)} />}
      <h3>{words.message.way}</h3>
      {steps.length === 0 && <p className="help">{words.message.noNotes}</p>}
      <ol className="waterfall">
        {steps.map((step, place) => (
          <li key={String(place)}>
            <StepOf step={step} whole={steps.at(-1)?.to ?? 0} />
          </li>
        ))}
      </ol>
    </>
  );
}

function StepOf({ step: { entry, from, to }, whole }: { step: Step; whole: number }): ReactNode {
  const words = useWords();
  const format = useFormat();
  return (
    <>
      <span className="stage">{entry.stage}</span>
      <span className="gist">{entry.summary}</span>
      <span className="about">{words.message.after(format.duration(to))}</span>
      <Bar from={from} to={to} whole={whole} />
      {entry.data !== undefined && (
        <details>
          <summary>{words.message.details}</summary>
          <CodeBlock label={entry.stage} text={JSON.stringify(entry.data, undefined, 2)} />
        </details>
      )}
    </>
  );
}

/** Width of the timeline and the minimum width of a bar, in SVG units. */
const WIDE = 1_000;
const NARROW = 6;

function Bar({ from, to, whole }: { from: number; to: number; whole: number }): ReactNode {
  const scale = WIDE / Math.max(whole, 1);
  const width = Math.max((to - from) * scale, NARROW);
  const left = Math.min(from * scale, WIDE - width);
  return (
    <svg className="bar" viewBox={`0 0 ${WIDE} 8`} preserveAspectRatio="none" aria-hidden="true">
      <rect className="track" width={WIDE} height="8" />
      <rect className="span" x={left} width={width} height="8" />
    </svg>
  );
}

function factsOf(message: MessageInfo, words: Words): Fact[] {
  const { channel, account, conversation, sender, agent, sessionKey, rule } = message;
  return [
    { name: words.message.from, value: sender },
    { name: words.message.where, value: `${channel}/${account} ${conversation}` },
    ...(agent === undefined ? [] : [{ name: words.message.agent, value: agent }]),
    ...(sessionKey === undefined
      ? []
      : [
          {
            name: words.message.session,
            value: (
              <Link to="/messages/{-$session}" params={{ session: sessionKey }}>
                {sessionKey}
              </Link>
            ),
          },
        ]),
    ...(rule === undefined ? [] : [{ name: words.message.rule, value: <code>{rule}</code> }]),
    { name: "id", value: <code>{message.id}</code> },
  ];
}
