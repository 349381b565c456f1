import "../styles/mantine-forms.css";
import { Button, Code, Group, Modal, PasswordInput, Stack, Text } from "@mantine/core";
import { type Problem, SESSION_KEY_NAME, type SignInMethods, signInSecret } from "@signalbox/client";
import { type FormEvent, type ReactNode, useEffect, useState, useSyncExternalStore } from "react";
import { useClient } from "../gateway.tsx";
import { pageWords, useWords } from "../words/words.tsx";
import { ProblemNote, toProblem } from "./problem.tsx";
import { answerRequest, getRequest, subscribe } from "./recent-sign-in.ts";
import { POPUP_QUERY } from "./return-path.ts";

const useTexts = pageWords({
  en: {
    title: "Sign in again",
    why: "This change needs a sign-in within the last hour, so that nobody else can make it in your browser.",
    link: "Enter the token, or a link from",
  },
  zh: {
    title: "请重新登录",
    why: "此修改需要在一小时内登录过，以防他人在你的浏览器中操作。",
    link: "输入令牌，或以下命令给出的链接：",
  },
});

/** A dialog that asks for the token before a sensitive change, an hour after the sign-in. */
export function SignInAgain(): ReactNode {
  const words = useTexts();
  const { cancel } = useWords();
  const request = useSyncExternalStore(subscribe, getRequest);
  return (
    <Modal
      opened={request !== undefined}
      onClose={() => answerRequest(false)}
      title={words.title}
      closeButtonProps={{ "aria-label": cancel }}
    >
      <Methods />
    </Modal>
  );
}

/** The sign-in with the token, or at the provider in another window, which keeps unsaved changes in this one. */
function Methods(): ReactNode {
  const { signIn } = useWords();
  const client = useClient();
  const [methods, setMethods] = useState<SignInMethods>();
  const [problem, setProblem] = useState<Problem>();
  useEffect(() => {
    client.signInMethods().then(setMethods, () => undefined);
    // All windows share the key of the session. The other one has signed in as soon as it changes.
    const follow = ({ key, newValue }: StorageEvent) => {
      if (key === SESSION_KEY_NAME && newValue !== null) answerRequest(true);
    };
    addEventListener("storage", follow);
    return () => removeEventListener("storage", follow);
  }, [client]);
  const visitProvider = async () => {
    setProblem(undefined);
    // Browsers block windows that open later than the click.
    const popup = open("about:blank", "_blank");
    try {
      const url = await client.startOidcLogin({ again: true, returnTo: location.pathname + POPUP_QUERY });
      if (popup === null) location.assign(url);
      else popup.location.href = url;
    } catch (error) {
      popup?.close();
      setProblem(toProblem(error));
    }
  };
  return (
    <Stack gap="sm">
      {methods?.oidc && <Button onClick={visitProvider}>{signIn.withProvider(methods.oidc.label)}</Button>}
      {problem && <ProblemNote problem={problem} />}
      <TokenForm />
    </Stack>
  );
}

/** Returns the secret of a sign-in link, or the token itself. */
function getSecret(entered: string): string {
  const fragment = entered.indexOf("#");
  return (fragment < 0 ? undefined : signInSecret(entered.slice(fragment))) ?? entered;
}

function TokenForm(): ReactNode {
  const words = useTexts();
  const { signIn, cancel } = useWords();
  const client = useClient();
  const [token, setToken] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      await client.login(getSecret(token.trim()));
      answerRequest(true);
    } catch (error) {
      const said = toProblem(error);
      setProblem(said.code === "unauthorized" ? { code: said.code, message: signIn.refused } : said);
      setBusy(false);
    }
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm">{words.why}</Text>
        <PasswordInput
          label={signIn.token}
          value={token}
          autoComplete="current-password"
          spellCheck={false}
          data-autofocus
          visibilityToggleButtonProps={{ "aria-hidden": true, tabIndex: -1 }}
          onChange={(event) => setToken(event.currentTarget.value)}
        />
        <Text size="sm" c="dimmed">
          {words.link} <Code>signalbox link</Code>
        </Text>
        {problem && <ProblemNote problem={problem} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={() => answerRequest(false)}>
            {cancel}
          </Button>
          <Button type="submit" loading={isBusy} disabled={token.trim() === ""}>
            {signIn.signIn}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
