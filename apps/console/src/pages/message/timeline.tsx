import type { TraceEntry } from "@signalbox/client";
import type { ReactNode } from "react";
import { CodeBlock } from "../../parts/code-block.tsx";
import { useFormat } from "../../words/use-format.ts";
import classes from "./timeline.module.css";
import { type Step, stepsOf } from "./waterfall.ts";
import { useMessageWords } from "./words.ts";

interface Props {
  entries: readonly TraceEntry[];
  /** Time at which the message arrived. */
  cameAt: number | undefined;
}

/** The stages of a message, each with the part of the time that it took. */
export function Timeline({ entries, cameAt }: Props): ReactNode {
  const words = useMessageWords();
  const steps = stepsOf(entries, cameAt);
  if (steps.length === 0) return <p>{words.noNotes}</p>;
  const whole = steps.at(-1)?.to ?? 0;
  return (
    <ol className={classes["timeline"]} data-timeline>
      {steps.map((step, place) => (
        <li key={String(place)}>
          <StepRow step={step} whole={whole} />
        </li>
      ))}
    </ol>
  );
}

function StepRow({ step: { entry, from, to }, whole }: { step: Step; whole: number }): ReactNode {
  const words = useMessageWords();
  const format = useFormat();
  return (
    <>
      <span className={classes["stage"]}>{entry.stage}</span>
      <span className={classes["gist"]}>{entry.summary}</span>
      <span className={classes["after"]}>{words.after(format.duration(to))}</span>
      <Bar from={from} to={to} whole={whole} />
      {entry.data !== undefined && (
        <details>
          <summary>{words.details}</summary>
          <CodeBlock label={entry.stage} text={JSON.stringify(entry.data, undefined, 2)} isWrapped />
        </details>
      )}
    </>
  );
}

/** Width of the timeline and the minimum width of a bar, in SVG units. */
const FULL_WIDTH = 1_000;
const MIN_WIDTH = 6;

function Bar({ from, to, whole }: { from: number; to: number; whole: number }): ReactNode {
  const scale = FULL_WIDTH / Math.max(whole, 1);
  const width = Math.max((to - from) * scale, MIN_WIDTH);
  const left = Math.min(from * scale, FULL_WIDTH - width);
  return (
    <svg
      className={classes["bar"]}
      viewBox={`0 0 ${FULL_WIDTH} 8`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <rect className={classes["track"]} width={FULL_WIDTH} height="8" />
      <rect className={classes["span"]} data-span x={left} width={width} height="8" />
    </svg>
  );
}
