import "../../styles/mantine-forms.css";
import { Button, Checkbox, TextInput } from "@mantine/core";
import { type Client, isClientError, type PairedPerson, type Problem } from "@signalbox/client";
import { type FormEvent, type ReactNode, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { ProblemNote, toProblem } from "../../parts/problem.tsx";
import { withRecentSignIn } from "../../parts/recent-sign-in.ts";
import { showDone, showProblem } from "../../parts/toasts.ts";
import { useChange } from "../../parts/use-change.ts";
import classes from "./code-form.module.css";
import { usePeopleWords } from "./words.ts";

/** Approves the person who received a pairing code. */
export function CodeForm(): ReactNode {
  const client = useClient();
  const words = usePeopleWords();
  const [code, setCode] = useState("");
  const [isOwner, setOwner] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const approve = useChange({
    run: async (entered: string) => {
      const person = await client.approvePairing(entered);
      // The code is used up, so a failure of the second step must not repeat the first.
      if (isOwner)
        await withRecentSignIn(() => addOwner(client, person)).then(
          () => showDone(words.ownerAdded(person.label ?? person.peer)),
          (error: unknown) => showProblem(toProblem(error)),
        );
      return person;
    },
    done: ({ label, peer }) => words.approved(label ?? peer),
    refresh: ["pairings", "configuration"],
    onProblem: (error) => {
      const isUnknown = isClientError(error) && error.code === "not_found";
      setProblem(isUnknown ? { code: "not_found", message: words.unknown } : toProblem(error));
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setProblem(undefined);
    approve.mutate(code.trim(), {
      onSuccess: () => {
        setCode("");
        setOwner(false);
      },
    });
  };
  return (
    <>
      <form className={classes["form"]} onSubmit={submit}>
        <TextInput
          className={classes["field"] ?? ""}
          label={words.code}
          description={words.codeHelp}
          value={code}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
        <Checkbox
          label={words.isOwner}
          description={words.isOwnerHelp}
          checked={isOwner}
          onChange={(event) => setOwner(event.currentTarget.checked)}
        />
        <Button type="submit" disabled={code.trim() === ""} loading={approve.isPending}>
          {words.approve}
        </Button>
      </form>
      {problem && <ProblemNote problem={problem} />}
    </>
  );
}

/** Adds a person to `access.owners` of the configuration. */
async function addOwner(client: Client, { channel, peer }: PairedPerson): Promise<void> {
  const { revision, values } = await client.configuration();
  const owners = readOwners(values);
  const person = `${channel}:${peer}`;
  if (owners.includes(person)) return;
  const edit =
    owners.length === 0
      ? { path: ["access", "owners"], value: [person] }
      : { path: ["access", "owners", owners.length], value: person };
  await client.writeConfiguration({ revision, edits: [edit] });
}

function readOwners(values: unknown): readonly unknown[] {
  const access =
    typeof values === "object" && values !== null && "access" in values ? values.access : undefined;
  const owners =
    typeof access === "object" && access !== null && "owners" in access ? access.owners : undefined;
  return Array.isArray(owners) ? owners : [];
}
