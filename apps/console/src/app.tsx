import { Center, Loader } from "@mantine/core";
import {
  type Client,
  type Connection,
  type ConnectionState,
  isClientError,
  type Me,
  type Problem,
  signInSecret,
} from "@signalbox/client";
import { RouterProvider } from "@tanstack/react-router";
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { GatewayProvider } from "./gateway.tsx";
import { ProblemNote, toProblem } from "./parts/problem.tsx";
import { router } from "./router.tsx";
import { SignIn } from "./sign-in.tsx";
import type { Words } from "./words/en.ts";
import { useWords } from "./words/words.tsx";

/** Reason why the user must sign in. A function, because the language can change while it is shown. */
type Notice = (words: Words) => string;

type Session =
  | { kind: "checking" }
  | { kind: "out"; notice?: Notice }
  | { kind: "in"; me: Me; connection: Connection }
  | { kind: "unreachable"; problem: Problem };

/** Asks the gateway whether the user is signed in, and shows the sign-in form or the page. */
export function App({ client }: { client: Client }): ReactNode {
  const words = useWords();
  const [session, setSession] = useState<Session>({ kind: "checking" });
  // Only the latest check counts. Results of earlier checks are ignored.
  const asked = useRef(0);
  // A link can be redeemed only once, so later checks wait for it.
  const byLink = useRef<Promise<Notice | undefined>>(Promise.resolve(undefined));

  const check = useCallback(async () => {
    asked.current += 1;
    const question = asked.current;
    let next: Session;
    const secret = takeSignInSecret();
    if (secret !== undefined) byLink.current = signInByLink(client, secret);
    const notice = await byLink.current;
    try {
      const me = await client.me();
      if (question !== asked.current) return;
      next = { kind: "in", me, connection: client.connect() };
    } catch (error) {
      const signedOut = isClientError(error) && error.code === "unauthorized";
      next = signedOut
        ? { kind: "out", ...(notice && { notice }) }
        : { kind: "unreachable", problem: toProblem(error) };
    }
    if (question === asked.current) setSession(next);
  }, [client]);

  useEffect(() => {
    void check();
    const followLink = () => {
      if (signInSecret(location.hash) !== undefined) void check();
    };
    addEventListener("hashchange", followLink);
    return () => {
      removeEventListener("hashchange", followLink);
      asked.current += 1;
    };
  }, [check]);

  const connection = session.kind === "in" ? session.connection : undefined;
  useEffect(() => {
    if (connection === undefined) return;
    const follow = (state: ConnectionState) => {
      if (state.kind !== "closed" || state.error === undefined) return;
      const isOver = state.error.code === "unauthorized";
      setSession(
        isOver
          ? { kind: "out", notice: ({ signIn }) => signIn.ended }
          : { kind: "unreachable", problem: toProblem(state.error) },
      );
    };
    follow(connection.state);
    return connection.onState(follow);
  }, [connection]);

  const signOut = async () => {
    try {
      await client.logout();
      setSession({ kind: "out" });
    } catch (error) {
      // Stay signed in: the session still exists on the gateway.
      setSession({ kind: "unreachable", problem: toProblem(error) });
    }
    connection?.close();
  };

  switch (session.kind) {
    case "checking":
      return (
        <Center component="main" mih="100dvh" aria-busy="true">
          <Loader type="dots" />
        </Center>
      );
    case "out":
      return <SignIn client={client} notice={session.notice?.(words)} onSignedIn={check} />;
    case "unreachable":
      return (
        <Center component="main" mih="100dvh" p="lg">
          <ProblemNote problem={session.problem} action={{ label: words.tryAgain, run: check }} />
        </Center>
      );
    case "in":
      return (
        <GatewayProvider gateway={{ client, connection: session.connection, me: session.me, signOut }}>
          <RouterProvider router={router} />
        </GatewayProvider>
      );
  }
}

/** Reads the secret of a sign-in link and removes it from the address bar and the history. */
function takeSignInSecret(): string | undefined {
  const secret = signInSecret(location.hash);
  if (secret !== undefined) history.replaceState(history.state, "", location.pathname + location.search);
  return secret;
}

/** Returns the message for a sign-in link that failed. */
async function signInByLink(client: Client, secret: string): Promise<Notice | undefined> {
  try {
    await client.login(secret);
    return undefined;
  } catch (error) {
    const isRefused = isClientError(error) && error.code === "unauthorized";
    return ({ signIn }) => (isRefused ? signIn.linkRefused : signIn.linkFailed(toProblem(error).message));
  }
}
