import { Button, TextInput } from "@mantine/core";
import { isClientError, type Problem } from "@signalbox/client";
import { type FormEvent, type ReactNode, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { ProblemNote, toProblem } from "../../parts/problem.tsx";
import { useChange } from "../../parts/use-change.ts";
import classes from "./code-form.module.css";
import { usePeopleWords } from "./words.ts";

/** Approves the person who received a pairing code. */
export function CodeForm(): ReactNode {
  const client = useClient();
  const words = usePeopleWords();
  const [code, setCode] = useState("");
  const [problem, setProblem] = useState<Problem>();
  const approve = useChange({
    run: (entered: string) => client.approvePairing(entered),
    done: ({ label, peer }) => words.approved(label ?? peer),
    refresh: ["pairings"],
    onProblem: (error) => {
      const isUnknown = isClientError(error) && error.code === "not_found";
      setProblem(isUnknown ? { code: "not_found", message: words.unknown } : toProblem(error));
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setProblem(undefined);
    approve.mutate(code.trim(), { onSuccess: () => setCode("") });
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
        <Button type="submit" disabled={code.trim() === ""} loading={approve.isPending}>
          {words.approve}
        </Button>
      </form>
      {problem && <ProblemNote problem={problem} />}
    </>
  );
}
