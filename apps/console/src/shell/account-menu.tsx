import { Avatar, Menu, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import {
  IconDeviceDesktop,
  IconKeyboard,
  IconLanguage,
  IconLogout,
  IconMoon,
  IconSelector,
  IconSun,
} from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useGateway } from "../gateway.tsx";
import { useLanguage, useWords } from "../words/words.tsx";
import classes from "./sidebar.module.css";

const SCHEMES = [
  ["light", IconSun],
  ["dark", IconMoon],
  ["auto", IconDeviceDesktop],
] as const;

/** The user's name, and a menu with the language, the theme and the sign-out. */
export function AccountMenu({ onShortcuts }: { onShortcuts: () => void }): ReactNode {
  const { sidebar: words } = useWords();
  const [language, choose] = useLanguage();
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const { me, signOut } = useGateway();
  return (
    <Menu position="top-start" width="target">
      <Menu.Target>
        <UnstyledButton className={classes["account"] ?? ""}>
          <Avatar size={28} color="signal" name={me.user.name} aria-hidden />
          <span className={classes["who"]}>
            <bdi>{me.user.name}</bdi>
            <small>{me.version}</small>
            <span className="visually-hidden">{words.account}</span>
          </span>
          <IconSelector size={16} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.RadioGroup value={colorScheme} onChange={(value) => setColorScheme(toScheme(value))}>
          <Menu.Label>{words.theme}</Menu.Label>
          {SCHEMES.map(([scheme, Picture]) => (
            <Menu.RadioItem
              key={scheme}
              value={scheme}
              rightSection={<Picture size={16} aria-hidden />}
              closeMenuOnClick={false}
            >
              {words.themes[scheme]}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconLanguage size={16} aria-hidden />}
          onClick={() => choose(language === "en" ? "zh" : "en")}
        >
          {words.language}
        </Menu.Item>
        <Menu.Item leftSection={<IconKeyboard size={16} aria-hidden />} onClick={onShortcuts}>
          {words.shortcuts}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => void signOut()}>
          {words.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function toScheme(value: string): (typeof SCHEMES)[number][0] {
  return SCHEMES.find(([scheme]) => scheme === value)?.[0] ?? "auto";
}
