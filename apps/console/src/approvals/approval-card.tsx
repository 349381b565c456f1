import { Button, Group } from "@mantine/core";
import type { ApprovalDecision, ApprovalInfo } from "@signalbox/client";
import { IconShieldQuestion } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { CodeBlock } from "../parts/code-block.tsx";
import { type Fact, Facts } from "../parts/facts.tsx";
import type { Words } from "../words/en.ts";
import { useFormat } from "../words/use-format.ts";
import { useWords } from "../words/words.tsx";
import classes from "./approval-card.module.css";

interface Props {
  approval: ApprovalInfo;
  /** Position among the pending approvals, for instance `1 / 3`. */
  position?: string | undefined;
  onAnswer: (answer: ApprovalDecision["answer"]) => void;
}

/**
 * A pending approval: the complete action, and buttons to decide it. The buttons stay visible, because only the part
 * above them scrolls.
 */
export function ApprovalCard({ approval, position, onAnswer }: Props): ReactNode {
  const words = useWords();
  const format = useFormat();
  const { notable, usual } = factsOf(approval, words);
  return (
    <article
      className={classes["card"]}
      data-waits
      aria-label={`${words.approvals.waiting}: ${approval.tool}`}
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard */}
      <section className={classes["body"]} tabIndex={0} aria-label={words.approvals.action}>
        <header className={classes["head"]}>
          <IconShieldQuestion size={20} stroke={1.7} aria-hidden />
          <h3>
            {approval.tool} <small>{approval.agent}</small>
          </h3>
          {position !== undefined && <small>{position}</small>}
        </header>
        <p>{approval.reason}</p>
        <RequesterLine requester={approval.requester} />
        <CodeBlock label={words.approvals.action} text={approval.action} isWrapped />
        <Facts facts={notable} />
        <details className={classes["details"]}>
          <summary>{words.approvals.details}</summary>
          <Facts facts={usual} />
        </details>
      </section>
      <Group className={classes["foot"] ?? ""} gap="xs">
        <Button onClick={() => onAnswer("allow-once")}>{words.approvals.allow}</Button>
        <Button variant="default" onClick={() => onAnswer("allow-always")}>
          {words.approvals.always}
        </Button>
        <Button variant="light" color="red" onClick={() => onAnswer("deny")}>
          {words.approvals.deny}
        </Button>
        <small>{words.approvals.until(format.time(approval.expiresAt))}</small>
      </Group>
    </article>
  );
}

/** The person who asked and the conversation. The id follows the name, because anyone can choose a name. */
function RequesterLine({ requester }: Pick<ApprovalInfo, "requester">): ReactNode {
  const words = useWords();
  if (requester === undefined) return undefined;
  const { id, name, isAutomatic, channel, conversation } = requester;
  const { kind, title } = conversation;
  return (
    <p>
      {isAutomatic === true ? words.approvals.automatic : words.approvals.askedBy}{" "}
      {name !== undefined && <bdi>{name} </bdi>}
      <code>{id}</code>
      {" · "}
      {kind === "direct" ? words.approvals.direct : <bdi>{title ?? conversation.id}</bdi>}
      {" · "}
      {channel}
    </p>
  );
}

/** An approval that another owner decided, or that expired, while it was shown. */
export function GoneCard({
  approval: { tool, action },
  onDismiss,
}: {
  approval: ApprovalInfo;
  onDismiss: () => void;
}): ReactNode {
  const words = useWords();
  return (
    <article className={classes["gone"]} aria-label={`${tool}: ${words.approvals.gone}`}>
      <p role="status">
        <strong>{words.approvals.gone}</strong> {tool}: <code>{action}</code>
      </p>
      <Button variant="default" size="xs" onClick={onDismiss}>
        {words.dismiss}
      </Button>
    </article>
  );
}

/** Folders of programs that the operating system installs. */
const SYSTEM_PROGRAM = /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$/;

/** Variables that every command receives. */
const USUAL_VARIABLES = new Set(["PATH", "HOME", "TMPDIR", "USER", "LOGNAME", "LANG", "TERM", "SHELL", "TZ"]);

/** Returns the facts that the owner must see, and those that are the same for most commands. */
function factsOf(approval: ApprovalInfo, words: Words): { notable: Fact[]; usual: Fact[] } {
  const { binary, cwd, env = {}, files = [], domains = [], sessionKey } = approval;
  const { program, folder, variables, files: named, hosts, session } = words.approvals;
  const all = Object.entries(env);
  const code = (text: string): ReactNode => <code>{text}</code>;
  const list = (name: string, texts: readonly string[]): Fact[] =>
    texts.length === 0
      ? []
      : [
          {
            name,
            value: (
              <ul>
                {texts.map((text) => (
                  <li key={text}>{code(text)}</li>
                ))}
              </ul>
            ),
          },
        ];
  const programs = list(program, binary === undefined ? [] : [binary]);
  const isSystemProgram = binary === undefined || SYSTEM_PROGRAM.test(binary);
  const texts = (isUsual: boolean) =>
    all.filter(([name]) => USUAL_VARIABLES.has(name) === isUsual).map(([name, value]) => `${name}=${value}`);
  return {
    notable: [
      ...(isSystemProgram ? [] : programs),
      ...list(folder, cwd === undefined ? [] : [cwd]),
      ...list(variables, texts(false)),
      ...list(
        named,
        files.map(({ path, sha256 }) => `${path} (sha256 ${sha256.slice(0, 12)}…)`),
      ),
      ...list(hosts, domains),
    ],
    usual: [
      ...(isSystemProgram ? programs : []),
      ...list(variables, texts(true)),
      { name: session, value: code(sessionKey) },
    ],
  };
}
