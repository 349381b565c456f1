import "../styles/mantine-forms.css";
import { Button, Code, Group, Modal, PasswordInput, Stack, Text } from "@mantine/core";
import { type Problem, signInSecret } from "@signalbox/client";
import { type FormEvent, type ReactNode, useState, useSyncExternalStore } from "react";
import { useClient } from "../gateway.tsx";
import { pageWords, useWords } from "../words/words.tsx";
import { ProblemNote, toProblem } from "./problem.tsx";
import { answerRequest, getRequest, subscribe } from "./recent-sign-in.ts";

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
      <TokenForm />
    </Modal>
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
