import { ActionIcon, Drawer } from "@mantine/core";
import { useDisclosure, useMediaQuery } from "@mantine/hooks";
import { IconMenu2 } from "@tabler/icons-react";
import { Outlet, useLocation, useMatches, useNavigate } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect } from "react";
import { ConversationsProvider } from "../conversation/conversations.tsx";
import { useConnectionState, useGateway } from "../gateway.tsx";
import { Sign } from "../parts/sign.tsx";
import { useScopes } from "../parts/use-scopes.ts";
import { useWords } from "../words/words.tsx";
import { ConnectionNote } from "./connection-note.tsx";
import { isInChat } from "./is-in-chat.ts";
import classes from "./shell.module.css";
import { Sidebar } from "./sidebar.tsx";
import { useShortcuts } from "./use-shortcuts.ts";

/** Loaded when it is opened for the first time. */
const Palette = lazy(async () => ({ default: (await import("./palette.tsx")).Palette }));
const SignInAgain = lazy(async () => ({ default: (await import("../parts/sign-in-again.tsx")).SignInAgain }));
const ShortcutList = lazy(async () => ({ default: (await import("./shortcut-list.tsx")).ShortcutList }));

/** Width below which the sidebar is a drawer. */
const PHONE = "(max-width: 48em)";

/** Frame of every page: the sidebar, the command palette, and a note if the connection is lost. */
export function Shell(): ReactNode {
  return (
    <ConversationsProvider>
      <Frame />
    </ConversationsProvider>
  );
}

function Frame(): ReactNode {
  const words = useWords();
  const scopes = useScopes();
  const { connection } = useGateway();
  const state = useConnectionState();
  const isPhone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false });
  const [isMenuOpen, menu] = useDisclosure(false);
  const [isPaletteOpen, palette] = useDisclosure(false);
  const [isListOpen, list] = useDisclosure(false);
  const { pathname } = useLocation();
  // The rendered page, which stays until the next one is loaded. The location changes before.
  const shown = useMatches({ select: (matches) => matches.at(-1)?.pathname ?? pathname });
  // The gateway refuses the requests of the chat to tokens that may not chat.
  const isRefused = isInChat(shown) && !scopes.has("chat");
  const navigate = useNavigate();
  useEffect(() => {
    if (isRefused) void navigate({ to: "/activity", replace: true });
  }, [isRefused, navigate]);
  useShortcuts({ onPalette: palette.open, onHelp: list.open });
  // biome-ignore lint/correctness/useExhaustiveDependencies: navigation closes the sidebar
  useEffect(menu.close, [pathname]);

  const sidebar = (
    <Sidebar
      onFollow={menu.close}
      onPalette={() => {
        menu.close();
        palette.open();
      }}
      onShortcuts={() => {
        menu.close();
        list.open();
      }}
    />
  );
  return (
    <div className={classes["frame"]}>
      {isPhone ? (
        <Drawer
          opened={isMenuOpen}
          onClose={menu.close}
          size="19rem"
          padding={0}
          withCloseButton={false}
          title={words.sidebar.open}
          classNames={{ header: "visually-hidden", body: classes["drawer"] ?? "" }}
        >
          {sidebar}
        </Drawer>
      ) : (
        sidebar
      )}
      <main className={classes["main"]} data-ready>
        {isPhone && (
          <div className={classes["bar"]}>
            <ActionIcon size="lg" aria-label={words.sidebar.open} onClick={menu.open}>
              <IconMenu2 size={20} aria-hidden />
            </ActionIcon>
            <Sign size={22} />
            <strong>Signalbox</strong>
          </div>
        )}
        <ConnectionNote state={state} onRetry={() => connection.retryNow()} />
        {!isRefused && <Outlet />}
      </main>
      <Suspense>
        {isPaletteOpen && <Palette onClose={palette.close} onShortcuts={list.open} />}
        {isListOpen && <ShortcutList onClose={list.close} />}
        <SignInAgain />
      </Suspense>
    </div>
  );
}
