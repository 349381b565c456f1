import { Alert, Code, List } from "@mantine/core";
import type { ReactNode } from "react";
import { useConfigurationWords } from "./words.ts";

/** Maximum number of keys that a list shows. */
const MAX_KEYS = 12;

interface EffectsProps {
  /** Keys that change. */
  keys: readonly string[];
  /** Changed keys that take effect at the next start. */
  forStart: readonly string[];
  programs: readonly string[];
}

/** The consequences of a change: keys that take effect at once and at the next start, and programs that run. */
export function Effects({ keys, forStart, programs }: EffectsProps): ReactNode {
  const words = useConfigurationWords();
  const atOnce = keys.filter((key) => !forStart.some((late) => belongsTo(key, late)));
  return (
    <>
      {programs.length > 0 && (
        <Alert color="red" title={words.programs}>
          <List size="sm">
            {programs.map((program) => (
              <List.Item key={program}>
                <bdi>{program}</bdi>
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
      {forStart.length > 0 && <Alert color="yellow">{words.restart(forStart.join(", "))}</Alert>}
      {atOnce.length > 0 && (
        <p>
          {words.atOnce} <Keys keys={atOnce} />
        </p>
      )}
    </>
  );
}

/** Returns true if one of two keys contains the other. */
export function belongsTo(key: string, other: string): boolean {
  return key === other || key.startsWith(`${other}.`) || other.startsWith(`${key}.`);
}

/** Keys of the configuration, of which only the first are shown. */
export function Keys({ keys }: { keys: readonly string[] }): ReactNode {
  const words = useConfigurationWords();
  return (
    <>
      {keys.slice(0, MAX_KEYS).map((key, index) => (
        <span key={key}>
          {index > 0 && " "}
          <Code>
            <bdi>{key}</bdi>
          </Code>
        </span>
      ))}
      {keys.length > MAX_KEYS && ` ${words.moreKeys(keys.length - MAX_KEYS)}`}
    </>
  );
}
