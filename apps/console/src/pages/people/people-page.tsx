import { isClientError, type PairingList, type Problem } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { Loaded, Page } from "../../parts/page.tsx";
import { ProblemNote, toProblem } from "../../parts/problem.tsx";
import { pairingsQuery } from "../../queries.ts";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";

type Person = PairingList["paired"][number];

/** Paired people, pending pairing requests, and a form to approve a code. */
export function PeoplePage(): ReactNode {
  const client = useClient();
  const words = useWords();
  const [problem, setProblem] = useState<Problem>();
  const query = useQuery(pairingsQuery(client));
  const revoke = async ({ channel, account, peer }: Person) => {
    try {
      await client.revokePairing({ channel, account, peer });
      setProblem(undefined);
    } catch (error) {
      setProblem(toProblem(error));
    }
    await query.refetch();
  };
  return (
    <Page title={words.pages.people}>
      <CodeForm onApproved={() => void query.refetch()} />
      {problem && <ProblemNote problem={problem} />}
      <Loaded query={query}>
        {({ pending, paired }) => (
          <>
            <Pending pending={pending} />
            <Paired paired={paired} onRevoke={(person) => void revoke(person)} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function CodeForm({ onApproved }: { onApproved: () => void }): ReactNode {
  const client = useClient();
  const words = useWords();
  const [code, setCode] = useState("");
  const [letIn, setLetIn] = useState<string>();
  const [problem, setProblem] = useState<Problem>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setLetIn(undefined);
    try {
      const { label, peer } = await client.approvePairing(code.trim());
      setLetIn(label ?? peer);
      setProblem(undefined);
      setCode("");
      onApproved();
    } catch (error) {
      const isUnknown = isClientError(error) && error.code === "not_found";
      setProblem(isUnknown ? { code: "not_found", message: words.people.unknown } : toProblem(error));
    }
  };
  return (
    <>
      <form className="line" onSubmit={submit}>
        <label>
          {words.people.code}
          <input
            value={code}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setCode(event.target.value)}
          />
        </label>
        <button type="submit" disabled={code.trim() === ""}>
          {words.people.approve}
        </button>
      </form>
      <p role="status">{letIn !== undefined && words.people.approved(letIn)}</p>
      {problem && <ProblemNote problem={problem} />}
    </>
  );
}

function Pending({ pending }: Pick<PairingList, "pending">): ReactNode {
  const words = useWords();
  const format = useFormat();
  return (
    <>
      <h3>{words.people.pending}</h3>
      {pending.length === 0 && <p className="help">{words.people.nobodyWaits}</p>}
      <ul className="rows" hidden={pending.length === 0}>
        {pending.map(({ channel, account, peer, label, expiresAt }) => (
          <li key={`${channel} ${account} ${peer}`}>
            <span className="row-head">
              <strong>
                <bdi>{label ?? peer}</bdi>
              </strong>
              <time dateTime={new Date(expiresAt).toISOString()}>
                {words.people.until(format.time(expiresAt))}
              </time>
            </span>
            <span className="about">
              {channel}/{account} · <bdi>{peer}</bdi>
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Paired({ paired, onRevoke }: { paired: Person[]; onRevoke: (person: Person) => void }): ReactNode {
  const words = useWords();
  const format = useFormat();
  return (
    <>
      <h3>{words.people.paired}</h3>
      {paired.length === 0 && <p className="help">{words.people.nobodyPaired}</p>}
      <ul className="rows" hidden={paired.length === 0}>
        {paired.map((person) => (
          <li key={`${person.channel} ${person.account} ${person.peer}`}>
            <span className="row-head">
              <strong>
                <bdi>{person.label ?? person.peer}</bdi>
              </strong>
              <ConfirmButton
                label={words.people.revoke}
                question={words.people.reallyRevoke}
                onConfirm={() => onRevoke(person)}
              />
            </span>
            <span className="about">
              {person.channel}/{person.account} · <bdi>{person.peer}</bdi> ·{" "}
              {words.people.since(format.time(person.approvedAt), person.approvedBy)}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
