import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { GatewayError } from "@signalbox/home";
import { parse } from "yaml";
import { createDatabaseCopies, type DatabaseCopies } from "../database-copy.ts";
import { readEnvironmentFile } from "../files.ts";
import type { Item } from "../item.ts";
import { toAgentId } from "../names.ts";
import { parseRecord } from "../records.ts";
import { convertSchedules } from "../schedules.ts";
import { createSettingsReader } from "../settings.ts";
import type { Import, ReadOptions, SourceHome } from "../source.ts";
import { convertConfiguration } from "./configuration.ts";
import { listRest, readFiles, readSkills } from "./files.ts";
import { readJobs } from "./jobs.ts";
import { convertChain, listGroups, readChains } from "./sessions.ts";

/** Newest known version of the configuration. */
const CONFIG_VERSION = 50;
const PORT = 8_642;

/** Reads a home of Hermes. @throws GatewayError if the folder is no home */
export async function readHermes(options: ReadOptions): Promise<SourceHome> {
  const dir = resolve(options.dir);
  if (!["config.yaml", "state.db", "SOUL.md"].some((name) => existsSync(join(dir, name))))
    throw new GatewayError("usage", `${dir} is no home of Hermes: it contains no config.yaml.`);
  const copies = createDatabaseCopies();
  try {
    return readHome(dir, options, copies);
  } catch (error) {
    copies.close();
    throw error;
  }
}

function readHome(dir: string, options: ReadOptions, copies: DatabaseCopies): SourceHome {
  const items: Item[] = [];
  const agentId = options.agents["main"] ?? toAgentId("main", options);
  const root = readConfiguration(join(dir, "config.yaml"));
  const version = createSettingsReader(root).number("_config_version") ?? 0;
  const warnings: string[] = [];
  const isKnown = version <= CONFIG_VERSION;
  if (!isKnown)
    warnings.push(
      `The configuration was written by a newer Hermes (version ${version}, ${CONFIG_VERSION} is known). It is not read.`,
    );
  if (!isKnown)
    items.push({
      part: "config",
      id: "config.yaml",
      state: "unsupported",
      why: "It was written by a newer Hermes.",
    });
  const database = existsSync(join(dir, "state.db")) ? copies.open(join(dir, "state.db")) : undefined;
  const chains = database === undefined ? [] : readChains(database, items);
  const paired = readPaired(dir, items);
  const configuration = convertConfiguration(
    isKnown ? root : {},
    { env: readEnvironmentFile(join(dir, ".env")), paired, knownGroups: listGroups(chains), agentId },
    options,
  );
  items.push(...configuration.items);
  const imports: Import[] = [...configuration.imports];
  for (const chain of chains) {
    const converted = convertChain(chain, database, agentId, configuration, options);
    if (converted.import !== undefined) imports.push(converted.import);
    items.push(...converted.items);
  }
  const jobs = convertSchedules(readJobs(dir, agentId, configuration, options), {
    now: options.now,
    dmScope: "per-channel-peer",
    skipMissed: false,
  });
  imports.push(...jobs.imports);
  items.push(...jobs.items);
  const files = readFiles(dir, agentId, configuration.hadOthers && !options.trustMemory);
  imports.push(...files.imports);
  const skills = readSkills(dir);
  imports.push(...skills.imports);
  items.push(...files.items, ...skills.items, ...listRest(dir));
  return {
    system: "hermes",
    dir,
    imports,
    items,
    warnings: [...warnings, ...configuration.warnings],
    steps: configuration.steps,
    port: PORT,
    close: () => copies.close(),
  };
}

function readConfiguration(file: string): unknown {
  if (!existsSync(file)) return {};
  try {
    return parse(readFileSync(file, "utf8"), { maxAliasCount: 100 }) ?? {};
  } catch (error) {
    // The message of the parser could quote a secret.
    throw new GatewayError("failure", `${file} is not valid YAML. Correct it.`, { cause: error });
  }
}

function readPaired(
  dir: string,
  items: Item[],
): readonly { readonly channel: string; readonly peerId: string }[] {
  return ["pairing", "platforms/pairing"].flatMap((folder) => {
    const place = join(dir, folder);
    if (!existsSync(place)) return [];
    return readdirSync(place).flatMap((name) => {
      const channel = /^(.+)-approved\.json$/.exec(name)?.[1];
      if (channel === undefined) {
        items.push({
          part: "people",
          id: `${folder}/${name}`,
          state: "skipped",
          why: "Requests that nobody approved.",
        });
        return [];
      }
      return Object.keys(parseRecord(readFileSync(join(place, name), "utf8"))).map((peerId) => ({
        channel,
        peerId,
      }));
    });
  });
}
