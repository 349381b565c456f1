import "../../styles/mantine-forms.css";
import { Alert } from "@mantine/core";
import { IconLock } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { Loaded, Page, Section } from "../../parts/page.tsx";
import { useScopes } from "../../parts/use-scopes.ts";
import { useWords } from "../../words/words.tsx";
import { ChannelSetup } from "./channel-setup.tsx";
import { ModelSetup } from "./model-setup.tsx";
import { setupQuery } from "./queries.ts";
import { useSetupWords } from "./words.ts";

/** Connects a model and channels, with a check of each answer. */
export function SetupPage(): ReactNode {
  const { pages } = useWords();
  const words = useSetupWords();
  const isOwner = useScopes().has("owner");
  const query = useQuery(setupQuery(useClient()));
  return (
    <Page title={pages.setup} description={words.description}>
      <Loaded query={query}>
        {(setup) => {
          const isDisabled = !setup.editable || !isOwner;
          return (
            <>
              {!setup.editable && (
                <Alert color="yellow" icon={<IconLock size={18} aria-hidden />} title={words.readOnly}>
                  <bdi>{setup.reason}</bdi>
                </Alert>
              )}
              <Section title={words.model}>
                <ModelSetup setup={setup} isDisabled={isDisabled} />
              </Section>
              <Section title={words.channel}>
                <ChannelSetup channels={setup.channels} isDisabled={isDisabled} />
              </Section>
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}
