import { Button } from "@mantine/core";
import { IconError404 } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useWords } from "../words/words.tsx";
import { Empty } from "./empty.tsx";
import { Page } from "./page.tsx";

/** Shown at an unknown address. */
export function UnknownPage(): ReactNode {
  const { notFound: words } = useWords();
  const navigate = useNavigate();
  return (
    <Page title={words.title}>
      <Empty
        icon={IconError404}
        title={words.text}
        action={<Button onClick={() => void navigate({ to: "/" })}>{words.home}</Button>}
      />
    </Page>
  );
}
