import type { ApprovalDecision, ApprovalInfo } from "@signalbox/client";
import type { ReactNode } from "react";
import { CodeBlock } from "../parts/code-block.tsx";
import { type Fact, Facts } from "../parts/page.tsx";
import type { Words } from "../words/en.ts";
import { useFormat } from "../words/use-format.ts";
import { useWords } from "../words/words.tsx";
import type { Decided } from "./use-decisions.ts";

interface Props {
  approval: ApprovalInfo;
  onAnswer: (answer: ApprovalDecision["answer"]) => void;
}

/** A pending approval: the complete action, and buttons to decide it. */
export function ApprovalCard({ approval, onAnswer }: Props): ReactNode {
  const words = useWords();
  const format = useFormat();
  return (
    <article className="card waits" aria-label={`${words.approvals.waiting}: ${approval.tool}`}>
      <h3>
        {approval.tool} <span className="help">{approval.agent}</span>
      </h3>
      <p>{approval.reason}</p>
      <CodeBlock label={words.approvals.action} text={approval.action} />
      <Facts facts={factsOf(approval, words)} />
      <p className="help">{words.approvals.until(format.time(approval.expiresAt))}</p>
      <div className="answers">
        <button type="button" onClick={() => onAnswer("allow-once")}>
          {words.approvals.allow}
        </button>
        <button type="button" className="quiet" onClick={() => onAnswer("allow-always")}>
          {words.approvals.always}
        </button>
        <button type="button" className="quiet danger" onClick={() => onAnswer("deny")}>
          {words.approvals.deny}
        </button>
      </div>
    </article>
  );
}

/** An approval that was decided. */
export function DecidedCard({ decided, onDismiss }: { decided: Decided; onDismiss: () => void }): ReactNode {
  const words = useWords();
  const { approval, outcome } = decided;
  return (
    <article className={`card ${outcome}`} aria-label={`${approval.tool}: ${words.approvals[outcome]}`}>
      <p role="status">
        <strong>{words.approvals[outcome]}</strong> {approval.tool}: <code>{approval.action}</code>
      </p>
      <button type="button" className="quiet" onClick={onDismiss}>
        {words.dismiss}
      </button>
    </article>
  );
}

function factsOf(
  { binary, cwd, env = {}, files = [], domains = [], sessionKey }: ApprovalInfo,
  words: Words,
): Fact[] {
  const { program, folder, variables, files: named, hosts, session } = words.approvals;
  const code = (text: string): ReactNode => <code>{text}</code>;
  const list = (texts: readonly string[]): ReactNode => (
    <ul>
      {texts.map((text) => (
        <li key={text}>{code(text)}</li>
      ))}
    </ul>
  );
  return [
    ...(binary === undefined ? [] : [{ name: program, value: code(binary) }]),
    ...(cwd === undefined ? [] : [{ name: folder, value: code(cwd) }]),
    ...(Object.keys(env).length === 0
      ? []
      : [{ name: variables, value: list(Object.entries(env).map(([name, value]) => `${name}=${value}`)) }]),
    ...(files.length === 0
      ? []
      : [
          {
            name: named,
            value: list(files.map(({ path, sha256 }) => `${path} (sha256 ${sha256.slice(0, 12)}…)`)),
          },
        ]),
    ...(domains.length === 0 ? [] : [{ name: hosts, value: list(domains) }]),
    { name: session, value: code(sessionKey) },
  ];
}
