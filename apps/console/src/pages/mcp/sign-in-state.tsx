import { Button, Group, Text } from "@mantine/core";
import type { McpServerInfo } from "@signalbox/client";
import { type ReactNode, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { ConfirmButton, ConfirmDialog } from "../../parts/confirm-button.tsx";
import { showDone, showProblem } from "../../parts/toasts.ts";
import { useChange } from "../../parts/use-change.ts";
import { useScopes } from "../../parts/use-scopes.ts";
import { useMcpWords } from "./words.ts";

/** The sign-in at a server over HTTP, with buttons to sign in and out. */
export function SignInState({ server }: { server: McpServerInfo }): ReactNode {
  const { name, needsSignIn, signIn } = server;
  const words = useMcpWords();
  const client = useClient();
  const scopes = useScopes();
  /** An authorization server on another host, which the user must confirm. */
  const [issuer, setIssuer] = useState<string>();
  const login = useChange({
    run: (confirmed: string | undefined) => client.mcpLogin(name, confirmed),
    refresh: ["mcp"],
  });
  const logout = useChange({ run: () => client.mcpLogout(name), done: words.signedOut, refresh: ["mcp"] });
  if (signIn === undefined || (!needsSignIn && signIn.state === "signed_out")) return null;
  const start = (confirmed?: string) =>
    login.mutate(confirmed, {
      onSuccess: (result) => {
        if (result.ok) {
          window.open(result.url, "_blank", "noopener");
          showDone(words.opened);
        } else if (result.issuer === undefined) showProblem(result);
        else setIssuer(result.issuer);
      },
    });
  return (
    <Group gap="xs" justify="space-between">
      <Text size="sm">
        <bdi>{needsSignIn ? words.needsSignIn : words.signedIn(signIn.issuer ?? name)}</bdi>
      </Text>
      {scopes.has("owner") &&
        (needsSignIn ? (
          <Button size="xs" loading={login.isPending} onClick={() => start()}>
            {words.signIn}
          </Button>
        ) : (
          <ConfirmButton
            label={words.signOut}
            question={words.reallySignOut(name)}
            onConfirm={() => logout.mutate()}
          >
            {words.signsOut}
          </ConfirmButton>
        ))}
      <ConfirmDialog
        isOpen={issuer !== undefined}
        label={words.signIn}
        question={words.otherIssuer(issuer ?? "")}
        onClose={() => setIssuer(undefined)}
        onConfirm={() => start(issuer)}
      >
        {words.otherIssuerHelp}
      </ConfirmDialog>
    </Group>
  );
}
