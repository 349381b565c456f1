import { Button, Kbd, UnstyledButton } from "@mantine/core";
import { IconEdit, IconSearch } from "@tabler/icons-react";
import { useLocation } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useConversations } from "../conversation/conversations.tsx";
import { Sign } from "../parts/sign.tsx";
import { useScopes } from "../parts/use-scopes.ts";
import { useWords } from "../words/words.tsx";
import { AccountMenu } from "./account-menu.tsx";
import { AreaLinks } from "./area-links.tsx";
import { ConversationList } from "./conversation-list.tsx";
import { isInChat } from "./is-in-chat.ts";
import { PageLinks } from "./page-links.tsx";
import classes from "./sidebar.module.css";
import { COMMAND_KEY } from "./use-shortcuts.ts";

interface Props {
  /** Called when the user follows a link, to close the drawer on a phone. */
  onFollow: () => void;
  onPalette: () => void;
  onShortcuts: () => void;
}

/** The navigation: conversations in the chat, pages elsewhere. */
export function Sidebar({ onFollow, onPalette, onShortcuts }: Props): ReactNode {
  const { sidebar: words, palette } = useWords();
  const { begin } = useConversations();
  const { pathname } = useLocation();
  const scopes = useScopes();
  const canManage = scopes.has("read");
  const isChat = isInChat(pathname);
  return (
    <div className={classes["sidebar"]} data-sidebar>
      <div className={classes["brand"]}>
        <Sign />
        <h1>Signalbox</h1>
      </div>
      <UnstyledButton className={classes["search"] ?? ""} onClick={onPalette}>
        <IconSearch size={16} aria-hidden />
        <span>{palette.open}</span>
        <Kbd size="xs" aria-hidden>
          {COMMAND_KEY} K
        </Kbd>
      </UnstyledButton>
      {canManage && scopes.has("chat") && <AreaLinks isChat={isChat} onFollow={onFollow} />}
      {(isChat && scopes.has("chat")) || !canManage ? (
        <>
          <Button
            variant="light"
            leftSection={<IconEdit size={16} aria-hidden />}
            onClick={() => {
              onFollow();
              begin();
            }}
          >
            {words.begin}
          </Button>
          <ConversationList onFollow={onFollow} />
        </>
      ) : (
        <PageLinks onFollow={onFollow} />
      )}
      <AccountMenu onShortcuts={onShortcuts} />
    </div>
  );
}
