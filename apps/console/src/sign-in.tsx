import type { Client, Problem } from "@signalbox/client";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { ProblemNote, toProblem } from "./problem.tsx";
import { Sign } from "./sign.tsx";

interface Props {
  client: Client;
  notice: string | undefined;
  onSignedIn: () => Promise<void>;
}

/** Trades the token for a cookie. The token stays in the form field and goes nowhere else. */
export function SignIn({ client, notice, onSignedIn }: Props): ReactNode {
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
      setProblem(toProblem(error));
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
        <label htmlFor="token">Gateway token</label>
        <input
          id="token"
          ref={field}
          type="password"
          autoComplete="current-password"
          spellCheck={false}
          required
          // biome-ignore lint/a11y/noAutofocus: the page has no other purpose
          autoFocus
          aria-describedby="token-help"
          aria-invalid={problem?.code === "unauthorized"}
        />
        <p id="token-help" className="help">
          The gateway showed it when it first started. <code>signalbox doctor</code> says where it is kept.
        </p>
        {problem && <ProblemNote problem={problem} />}
        <button type="submit" disabled={busy}>
          {busy ? "Signing in…" : "Sign in"}
        </button>
      </form>
    </main>
  );
}
