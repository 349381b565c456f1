import { Group, Kbd, Modal } from "@mantine/core";
import type { ReactNode } from "react";
import { PAGES } from "../pages.ts";
import { useScopes } from "../parts/use-scopes.ts";
import { useWords } from "../words/words.tsx";
import classes from "./shortcut-list.module.css";
import { COMMAND_KEY } from "./use-shortcuts.ts";

interface Shortcut {
  /** Keys to press together. A second list is pressed after the first. */
  keys: readonly (readonly string[])[];
  effect: string;
}

/** A dialog with all keyboard shortcuts. */
export function ShortcutList({ onClose }: { onClose: () => void }): ReactNode {
  const { shortcuts: words, pages, dismiss } = useWords();
  const scopes = useScopes();
  const canChat = scopes.has("chat");
  const general: Shortcut[] = [
    { keys: [[COMMAND_KEY, "K"]], effect: words.palette },
    ...(canChat ? [{ keys: [["C"]], effect: words.begin }] : []),
    { keys: [["/"]], effect: words.search },
    { keys: [["?"]], effect: words.help },
  ];
  const inChat: Shortcut[] = [
    { keys: [["Enter"]], effect: words.send },
    { keys: [["Shift", "Enter"]], effect: words.newLine },
    { keys: [["Esc"]], effect: words.stop },
  ];
  const navigation: Shortcut[] = [
    ...(canChat ? [{ keys: [["G"], ["H"]], effect: words.goTo(pages.chat) }] : []),
    ...(scopes.has("read")
      ? PAGES.map(({ id, key }) => ({
          keys: [["G"], [key.toUpperCase()]],
          effect: words.goTo(pages[id]),
        }))
      : []),
  ];
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={words.title}
      closeButtonProps={{ "aria-label": dismiss }}
    >
      <div className={classes["columns"]}>
        <div>
          <Shortcuts title={words.general} shortcuts={general} />
          {canChat && <Shortcuts title={words.inChat} shortcuts={inChat} />}
        </div>
        <Shortcuts title={words.navigation} shortcuts={navigation} />
      </div>
    </Modal>
  );
}

function Shortcuts({ title, shortcuts }: { title: string; shortcuts: readonly Shortcut[] }): ReactNode {
  const { shortcuts: words } = useWords();
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {shortcuts.map(({ keys, effect }) => (
          <div key={effect}>
            <dt>{effect}</dt>
            <Group component="dd" gap={4} wrap="nowrap">
              {keys.map((together, place) => (
                <span key={together.join("+")}>
                  {place > 0 && <small>{words.afterwards} </small>}
                  {together.map((key) => (
                    <Kbd key={key} size="sm">
                      {key}
                    </Kbd>
                  ))}
                </span>
              ))}
            </Group>
          </div>
        ))}
      </dl>
    </section>
  );
}
