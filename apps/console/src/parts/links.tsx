import { Anchor, type AnchorProps, Button, type ButtonProps } from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import type { ComponentProps, ReactNode } from "react";

type LinkProps = Omit<ComponentProps<"a">, "color" | "style">;

/** A link to a page that looks like a button. */
export const ButtonLink = createLink(function ButtonLink(props: ButtonProps & LinkProps): ReactNode {
  return <Button component="a" {...props} />;
});

/** A link to a page inside a text. */
export const TextLink = createLink(function TextLink(props: AnchorProps & LinkProps): ReactNode {
  return <Anchor {...props} />;
});
