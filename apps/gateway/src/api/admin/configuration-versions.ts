import { createHash } from "node:crypto";
import { configText, configVersions, type Home } from "@signalbox/home";
import type { ConfigurationHistory } from "@signalbox/protocol";
import { parse } from "yaml";
import type { GatewayContext } from "../../context.ts";
import { findChangedKeys } from "./changed-keys.ts";

type Version = ConfigurationHistory["versions"][number];

/** Number of the latest audit entries that are searched for the authors of changes. */
const MAX_AUDIT_ENTRIES = 50_000;
/** Time between the replacement of a version and its audit entry, in milliseconds. */
const MAX_AUDIT_DELAY_MS = 120_000;

/**
 * Lists the earlier versions of the configuration, latest first, with the keys that each replacement changed and its
 * author, which the audit log names if the change was made through the API.
 */
export async function listVersions(
  { options, store }: Pick<GatewayContext, "options" | "store">,
  current: { readonly home: Home; readonly text: string },
): Promise<Version[]> {
  const versions = configVersions(options.home);
  if (versions.length === 0) return [];
  const { count } = await store.audit.head();
  const after = Math.max(0, count - MAX_AUDIT_ENTRIES);
  const changes = await store.audit.list({ kind: "configuration", after, limit: MAX_AUDIT_ENTRIES });
  let next = current.text;
  return versions.map(({ id, file }) => {
    const text = configText(file);
    const replacedAt = getTime(id);
    const revision = getRevision(current.home, next);
    const change = changes.find(
      ({ action, at, details }) =>
        action === "written" &&
        details?.["revision"] === revision &&
        Math.abs(at - replacedAt) < MAX_AUDIT_DELAY_MS,
    );
    const keys = findChangedKeys(parseText(text), parseText(next));
    next = text;
    return { id, replacedAt, actor: change?.actor, keys };
  });
}

/** Returns an identifier of the file with this text. */
export function getRevision({ configFile }: Home, text: string): string {
  return createHash("sha256").update(configFile).update("\0").update(text).digest("hex").slice(0, 32);
}

/** Parses a text whose syntax may be wrong. */
export function parseText(text: string): unknown {
  try {
    return parse(text, { uniqueKeys: false }) ?? {};
  } catch {
    return {};
  }
}

/** Returns the time in the id of a version: `2026-11-22T14-35-00.000Z`. */
function getTime(id: string): number {
  return Date.parse(id.replace(/T(\d\d)-(\d\d)-/, "T$1:$2:"));
}
