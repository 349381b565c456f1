import type { Client, Problem } from "@signalbox/client";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { ProblemNote, toProblem } from "./parts/problem.tsx";
import { Sign } from "./parts/sign.tsx";
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
    <main className="centre">
      <form className="sign-in" onSubmit={submit}>
        <Sign />
        <h1>Signalbox</h1>
        {notice && !problem && <p role="status">{notice}</p>}
        <label htmlFor="token">{words.signIn.token}</label>
        <input
          id="token"
          ref={field}
          type="password"
          autoComplete="current-password"
          spellCheck={false}
          required
          // biome-ignore lint/a11y/noAutofocus: the form is the only element of the page
          autoFocus
          aria-describedby="token-help"
          aria-invalid={problem?.code === "unauthorized"}
        />
        <p id="token-help" className="help">
          {words.signIn.help} <code>signalbox doctor</code>
        </p>
        {problem && <ProblemNote problem={problem} />}
        <button type="submit" disabled={busy}>
          {busy ? words.signIn.signingIn : words.signIn.signIn}
        </button>
      </form>
    </main>
  );
}
