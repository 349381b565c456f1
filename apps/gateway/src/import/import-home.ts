import { connect } from "node:net";
import type { Home } from "@signalbox/home";
import type { AnyStore } from "@signalbox/store";
import { applyImports } from "./apply.ts";
import { applySettings } from "./apply-settings.ts";
import { readHermes } from "./hermes/home.ts";
import type { Item, Part } from "./item.ts";
import { readNanobot } from "./nanobot/home.ts";
import { readOpenclaw } from "./openclaw/home.ts";
import { createReport, type ImportReport } from "./report.ts";
import type { Import, ReadOptions, SourceHome, System } from "./source.ts";

const READERS: Readonly<Record<System, (options: ReadOptions) => Promise<SourceHome>>> = {
  openclaw: readOpenclaw,
  nanobot: readNanobot,
  hermes: readHermes,
};

export interface ImportOptions extends ReadOptions {
  readonly system: System;
  readonly apply: boolean;
  readonly secrets: boolean;
  /** Parts to import. Default: all. */
  readonly only: ReadonlySet<Part> | undefined;
  readonly force: ReadonlySet<Part>;
}

/** Parts of the imports of each kind. */
function partOf(each: Import): Part {
  switch (each.kind) {
    case "file":
      return each.part;
    case "skill":
      return "skills";
    case "session":
      return "sessions";
    case "person":
      return "people";
    case "schedule":
      return "schedules";
    case "setting":
      return "config";
  }
}

const LAST_STEPS: Readonly<Record<System, string>> = {
  openclaw: "`openclaw gateway stop`",
  nanobot: "end `nanobot gateway`",
  hermes: "`hermes gateway stop`",
};

/**
 * Imports a home of another system, or plans to. The source is only read.
 *
 * @param store the gateway's database. Undefined if it does not exist, which is only possible for a plan.
 * @param moveStore is called after everything but the configuration was imported. Returns the store with which the
 *   import continues.
 * @throws GatewayError if the folder is no home of the system
 */
export async function importHome(
  home: Home,
  store: AnyStore | undefined,
  options: ImportOptions,
  moveStore?: () => Promise<AnyStore>,
): Promise<ImportReport> {
  const read = await READERS[options.system](options);
  try {
    const isChosen = (part: Part): boolean => options.only === undefined || options.only.has(part);
    const warnings = (await isListening(read.port))
      ? [
          `A program listens on port ${read.port}, as the gateway of this home does. Stop it (${LAST_STEPS[options.system]}): two gateways must not use the same bot.`,
          ...read.warnings,
        ]
      : read.warnings;
    const source: SourceHome = {
      ...read,
      warnings,
      imports: read.imports.filter((each) => isChosen(partOf(each))),
    };
    const notChosen: Item[] = read.imports.flatMap((each) => {
      const part = partOf(each);
      if (isChosen(part)) return [];
      const ids = each.kind === "setting" ? each.ids : [each.id];
      return ids.map((id) => ({ part, id, state: "skipped" as const, why: "Left out by --only." }));
    });
    const target = {
      home,
      store,
      now: options.now,
      force: options.force,
      apply: options.apply,
      suffix: options.system,
      secrets: options.secrets,
      env: options.env,
    };
    const applied = await applyImports(source, target);
    const settings = await applySettings(source, { ...target, store: (await moveStore?.()) ?? store });
    return createReport(source, [...applied, ...settings, ...notChosen, ...read.items], {
      applied: options.apply,
      backup: undefined,
      steps: [
        `Stop the old gateway (${LAST_STEPS[options.system]}): two gateways must not use the same bot.`,
        "Check the configuration with `signalbox config check`, and the skills with `signalbox skills check`.",
        "Build the search index of the notes with `signalbox memory index`.",
        "Start the gateway with `signalbox start`, and write to the bot.",
      ],
    });
  } finally {
    read.close();
  }
}

/** Time limit for a connection to a port of this machine, in milliseconds. */
const CONNECT_MS = 500;

/** Returns true if a program of this machine accepts connections on the port. */
function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, timeout: CONNECT_MS });
    const end = (isOpen: boolean): void => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", () => end(true));
    socket.once("timeout", () => end(false));
    socket.once("error", () => end(false));
  });
}
