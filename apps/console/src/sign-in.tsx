import { Button, Code, Text, TextInput } from "@mantine/core";
import type { Client, Problem } from "@signalbox/client";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { ProblemNote, toProblem } from "./parts/problem.tsx";
import { Sign } from "./parts/sign.tsx";
import classes from "./sign-in.module.css";
import { useWords } from "./words/words.tsx";

interface Props {
  client: Client;
  /** Reason why the user must sign in. */
  notice: string | undefined;
  onSignedIn: () => Promise<void>;
}

/** Exchanges the token for a session. The token is not stored. */
export function SignIn({ client, notice, onSignedIn }: Props): ReactNode {
  const words = useWords();
  const field = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const token = field.current?.value.trim() ?? "";
    if (token === "" || busy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      await client.login(token);
      if (field.current) field.current.value = "";
      await onSignedIn();
    } catch (error) {
      const said = toProblem(error);
      // The gateway's own message is written for programs.
      setProblem(said.code === "unauthorized" ? { code: said.code, message: words.signIn.refused } : said);
      field.current?.select();
    } finally {
      setBusy(false);
    }
  };

  return (
    <main className={classes["centre"]}>
      <form className={classes["card"]} onSubmit={submit}>
        <Sign size={40} />
        <h1>{words.signIn.title}</h1>
        {notice && !problem && (
          <Text role="status" size="sm">
            {notice}
          </Text>
        )}
        <TextInput
          id="token"
          type="password"
          ref={field}
          label={words.signIn.token}
          autoComplete="current-password"
          spellCheck={false}
          required
          withAsterisk={false}
          size="md"
          autoFocus
          error={problem?.code === "unauthorized"}
        />
        <Text size="sm" c="dimmed">
          {words.signIn.help} <Code>signalbox link</Code>
        </Text>
        {problem && <ProblemNote problem={problem} />}
        <Button type="submit" size="md" loading={busy}>
          {words.signIn.signIn}
        </Button>
      </form>
    </main>
  );
}
