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
import { POPUP_QUERY, restorePage } from "./parts/return-path.ts";
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

  // Shown until the user signs in, even if an older session is still valid.
  const failure = useRef<Notice | undefined>(undefined);

  const check = useCallback(async () => {
    asked.current += 1;
    const question = asked.current;
    let next: Session;
    const secret = takeSignInSecret();
    if (secret !== undefined) {
      failure.current = undefined;
      byLink.current = signInByLink(client, secret);
    }
    failure.current = takeFailure() ?? failure.current;
    if (failure.current !== undefined) return setSession({ kind: "out", notice: failure.current });
    const notice = await byLink.current;
    if (secret !== undefined && notice === undefined) closePopup();
    try {
      const me = await getMe(client);
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
      if (signInSecret(location.hash) !== undefined || location.hash.startsWith(FAILURE)) void check();
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

  const continueSignedIn = () => {
    failure.current = undefined;
    return check();
  };

  const signOut = async () => {
    try {
      const elsewhere = await client.logout();
      setSession({ kind: "out" });
      // The session at the provider or the proxy still exists.
      if (elsewhere !== undefined) location.assign(elsewhere);
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
      return <SignIn client={client} notice={session.notice?.(words)} onSignedIn={continueSignedIn} />;
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
  if (secret !== undefined) restorePage();
  return secret;
}

/** Fragment with the code of a failed sign-in at the provider. */
const FAILURE = "#sign-in-error=";

/** Returns the message for a failed sign-in at the provider, and removes it from the address bar. */
function takeFailure(): Notice | undefined {
  if (!location.hash.startsWith(FAILURE)) return undefined;
  const code = location.hash.slice(FAILURE.length);
  restorePage();
  return ({ signIn: { failures } }) =>
    Object.entries(failures).find(([known]) => known === code)?.[1] ?? failures.failed;
}

/** Closes the window in which a person has signed in again. A browser may refuse that; then the page stays. */
function closePopup(): void {
  if (location.search !== POPUP_QUERY) return;
  history.replaceState(history.state, "", location.pathname);
  close();
}

/** Returns the user. If a trusted proxy names the user, a session is opened first. */
async function getMe(client: Client): Promise<Me> {
  try {
    return await client.me();
  } catch (error) {
    if (!isClientError(error) || error.code !== "unauthorized") throw error;
    const methods = await client.signInMethods().catch(() => undefined);
    if (methods?.proxy !== true) throw error;
    // The sign-in page offers this again, and shows the reason of a failure.
    await client.loginByProxy().catch(() => {
      throw error;
    });
    return client.me();
  }
}

/** Returns the message for a sign-in link that failed. */
async function signInByLink(client: Client, secret: string): Promise<Notice | undefined> {
  try {
    await client.login(secret);
    return undefined;
  } catch (error) {
    const isRefused = isClientError(error) && error.code === "unauthorized";
    const { code, message } = toProblem(error);
    return ({ signIn, diskFull }) => {
      if (isRefused) return signIn.linkRefused;
      return code === "disk_full" ? `${diskFull.message} ${diskFull.remedy}` : signIn.linkFailed(message);
    };
  }
}
