import { Button, Code, Divider, Text, TextInput } from "@mantine/core";
import type { Client, Problem, SignInMethods } from "@signalbox/client";
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { ProblemNote, toProblem } from "./parts/problem.tsx";
import { getReturnPath } from "./parts/return-path.ts";
import { Sign } from "./parts/sign.tsx";
import classes from "./sign-in.module.css";
import { useWords } from "./words/words.tsx";

interface Props {
  client: Client;
  /** Reason why the user must sign in. */
  notice: string | undefined;
  onSignedIn: () => Promise<void>;
}

/** Shown until the gateway has reported its methods, or if it cannot. */
const TOKEN_ONLY: SignInMethods = { token: true, proxy: false };

/** Opens a session: at the company's provider, through a proxy, or with a token, which is not stored. */
export function SignIn({ client, notice, onSignedIn }: Props): ReactNode {
  const words = useWords();
  const [methods, setMethods] = useState(TOKEN_ONLY);
  const [problem, setProblem] = useState<Problem>();

  useEffect(() => {
    client.signInMethods().then(setMethods, () => undefined);
  }, [client]);

  const isExternal = methods.proxy || methods.oidc !== undefined;
  return (
    <main className={classes["centre"]}>
      <div className={classes["card"]}>
        <Sign size={40} />
        <h1>{words.signIn.title}</h1>
        {notice && !problem && (
          <Text role="status" size="sm">
            {notice}
          </Text>
        )}
        <ExternalSignIn {...{ client, methods, onSignedIn }} onProblem={setProblem} />
        {isExternal && methods.token && <Divider label={words.signIn.or} />}
        {methods.token && (
          <TokenSignIn {...{ client, problem, onSignedIn }} isMain={!isExternal} onProblem={setProblem} />
        )}
        {problem && <ProblemNote problem={problem} />}
      </div>
    </main>
  );
}

interface MethodProps {
  client: Client;
  onSignedIn: () => Promise<void>;
  onProblem: (problem: Problem | undefined) => void;
}

/** Buttons for the OpenID provider and for a trusted proxy. */
function ExternalSignIn({
  client,
  methods,
  onSignedIn,
  onProblem,
}: MethodProps & { methods: SignInMethods }): ReactNode {
  const { signIn } = useWords();
  const [isBusy, setBusy] = useState(false);
  const run = (work: () => Promise<void>) => async () => {
    setBusy(true);
    onProblem(undefined);
    try {
      await work();
    } catch (error) {
      onProblem(toProblem(error));
      setBusy(false);
    }
  };
  const visitProvider = run(async () => {
    location.assign(await client.startOidcLogin({ returnTo: getReturnPath() }));
  });
  const useProxy = run(async () => {
    await client.loginByProxy();
    await onSignedIn();
  });
  return (
    <>
      {methods.oidc && (
        <Button size="md" loading={isBusy} onClick={visitProvider}>
          {signIn.withProvider(methods.oidc.label)}
        </Button>
      )}
      {methods.proxy && (
        <Button size="md" loading={isBusy} onClick={useProxy}>
          {signIn.withProxy}
        </Button>
      )}
    </>
  );
}

function TokenSignIn({
  client,
  problem,
  isMain,
  onSignedIn,
  onProblem,
}: MethodProps & { problem: Problem | undefined; isMain: boolean }): ReactNode {
  const words = useWords();
  const field = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const token = field.current?.value.trim() ?? "";
    if (token === "" || busy) return;
    setBusy(true);
    onProblem(undefined);
    try {
      await client.login(token);
      if (field.current) field.current.value = "";
      await onSignedIn();
    } catch (error) {
      const said = toProblem(error);
      // The gateway's own message is written for programs.
      onProblem(said.code === "unauthorized" ? { code: said.code, message: words.signIn.refused } : said);
      field.current?.select();
    } finally {
      setBusy(false);
    }
  };

  return (
    <form className={classes["form"]} onSubmit={submit}>
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
      <Button type="submit" size="md" variant={isMain ? "filled" : "default"} loading={busy}>
        {words.signIn.signIn}
      </Button>
    </form>
  );
}
