import { Anchor, Button, Code, Text } from "@mantine/core";
import { IconExternalLink } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useSetupWords } from "./words.ts";

/** A link to a page of a vendor or platform. It opens in a new tab and does not reveal the address of this page. */
export function VendorLink({ url, children }: { url: string; children: ReactNode }): ReactNode {
  if (!/^https:\/\//.test(url)) return null;
  return (
    <Anchor href={url} target="_blank" rel="noopener noreferrer" size="sm" data-vendor-page>
      {children} <IconExternalLink size={14} aria-hidden />
    </Anchor>
  );
}

/** Names packages that are not installed, with the command that installs them. */
export function MissingPackages({ names }: { names: readonly string[] }): ReactNode {
  const words = useSetupWords();
  if (names.length === 0) return null;
  return (
    <Text size="sm">
      {words.missing(names.join(", "))} <Code>npm install {names.join(" ")}</Code>{" "}
      {words.missingInDocker(names.join(" "))}
    </Text>
  );
}

/** Shows the optional fields of a form. */
export function MoreButton(props: { isDisabled: boolean; onClick: () => void }): ReactNode {
  const words = useSetupWords();
  return (
    <Button variant="subtle" disabled={props.isDisabled} onClick={props.onClick}>
      {words.more}
    </Button>
  );
}
