import "@mantine/spotlight/styles.layer.css";
import { useMantineColorScheme } from "@mantine/core";
import { createSpotlight, Spotlight, type SpotlightActionGroupData } from "@mantine/spotlight";
import {
  IconDeviceDesktop,
  IconEdit,
  IconKeyboard,
  IconLanguage,
  IconLogout,
  IconMessageCircle,
  IconMoon,
  IconSearch,
  IconSun,
} from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo } from "react";
import { useConversations } from "../conversation/conversations.tsx";
import { useGateway } from "../gateway.tsx";
import { PAGES } from "../pages.ts";
import { useScopes } from "../parts/use-scopes.ts";
import { useLanguage, useWords } from "../words/words.tsx";

const [store, spotlight] = createSpotlight();

const SCHEMES = [
  ["light", IconSun],
  ["dark", IconMoon],
  ["auto", IconDeviceDesktop],
] as const;

interface Props {
  onClose: () => void;
  onShortcuts: () => void;
}

/** The command palette: finds pages, conversations and actions by name. */
export function Palette({ onClose, onShortcuts }: Props): ReactNode {
  const { palette: words, sidebar, pages } = useWords();
  const navigate = useNavigate();
  const { signOut } = useGateway();
  const scopes = useScopes();
  const canManage = scopes.has("read");
  const canChat = scopes.has("chat");
  const { agents, listed, begin } = useConversations();
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const [language, choose] = useLanguage();
  useEffect(() => spotlight.open(), []);

  const actions = useMemo((): SpotlightActionGroupData[] => {
    const shown = canManage ? PAGES : [];
    return [
      {
        group: words.goTo,
        actions: [
          ...(canChat
            ? [
                {
                  id: "chat",
                  label: pages.chat,
                  leftSection: <IconMessageCircle size={18} stroke={1.6} />,
                  onClick: () => void navigate({ to: "/" }),
                },
              ]
            : []),
          ...shown.map(({ id, to, icon: Picture }) => ({
            id,
            label: pages[id],
            keywords: [id],
            leftSection: <Picture size={18} stroke={1.6} />,
            onClick: () => void navigate({ to }),
          })),
        ],
      },
      {
        group: words.actions,
        actions: [
          ...(canChat ? agents : []).map(({ id, name }) => ({
            id: `talk ${id}`,
            label: agents.length === 1 ? sidebar.begin : words.talkTo(name),
            leftSection: <IconEdit size={18} stroke={1.6} />,
            onClick: () => begin(id),
          })),
          ...SCHEMES.map(([scheme, Picture]) => ({
            id: `theme ${scheme}`,
            label: `${sidebar.theme}: ${sidebar.themes[scheme]}`,
            leftSection: <Picture size={18} stroke={1.6} />,
            onClick: () => setColorScheme(scheme),
          })),
          {
            id: "language",
            label: sidebar.language,
            keywords: ["language", "语言"],
            leftSection: <IconLanguage size={18} stroke={1.6} />,
            onClick: () => choose(language === "en" ? "zh" : "en"),
          },
          {
            id: "shortcuts",
            label: sidebar.shortcuts,
            leftSection: <IconKeyboard size={18} stroke={1.6} />,
            onClick: onShortcuts,
          },
          {
            id: "sign-out",
            label: sidebar.signOut,
            leftSection: <IconLogout size={18} stroke={1.6} />,
            onClick: () => void signOut(),
          },
        ],
      },
      {
        group: sidebar.conversations,
        actions: listed.map(({ id, title }) => ({
          id: `conversation ${id}`,
          label: title,
          leftSection: <IconMessageCircle size={18} stroke={1.6} />,
          onClick: () => void navigate({ to: "/c/$conversation", params: { conversation: id } }),
        })),
      },
    ];
  }, [
    words,
    sidebar,
    pages,
    navigate,
    canManage,
    canChat,
    signOut,
    agents,
    listed,
    begin,
    setColorScheme,
    language,
    choose,
    onShortcuts,
  ]);

  return (
    <Spotlight
      store={store}
      actions={actions}
      shortcut={null}
      lockScroll={false}
      centered={false}
      yOffset="12dvh"
      overlayProps={{ backgroundOpacity: 0.4, blur: 0 }}
      scrollable
      maxHeight="60dvh"
      title={words.open}
      classNames={{ header: "visually-hidden" }}
      nothingFound={words.nothing}
      searchProps={{
        "aria-label": words.open,
        placeholder: words.open,
        leftSection: <IconSearch size={18} aria-hidden />,
      }}
      onSpotlightClose={onClose}
    />
  );
}
