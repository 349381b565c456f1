import type { ConfigEdit, LoadedConfig } from "@signalbox/config";
import { changeConfig } from "../../home/config-file.ts";
import { type Home, locateHome, prepareHome } from "../../home/home.ts";
import { readConfig } from "../../home/settings.ts";
import { builtInChannels } from "../../resolve/resolve-config.ts";
import type { CommonOptions } from "../common-options.ts";
import { print } from "../output.ts";
import { configOrExit } from "../start.ts";
import { agentStep } from "./agent-step.ts";
import { type Asker, askNobody, askTerminal } from "./asker.ts";
import { channelStep } from "./channel-step.ts";
import { providerStep } from "./provider-step.ts";

/** Every answer can be given as an option. */
export interface InitOptions extends CommonOptions {
  readonly provider?: string;
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly model?: string;
  readonly agent?: string;
  readonly workspace?: string;
  readonly channel?: string;
  readonly account?: string;
  /** Settings of the channel by name. */
  readonly set?: Readonly<Record<string, string>>;
  readonly owner?: string;
  /** False: neither a key nor a channel is tried. */
  readonly check?: boolean;
  /** Nobody is asked. */
  readonly yes?: boolean;
}

/** What every step works with. */
export interface Step {
  readonly home: Home;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly asker: Asker;
  /** Writes the answers down, whole: whenever the command is interrupted, the configuration is one that can be. */
  change(edits: readonly ConfigEdit[]): void;
  /** The configuration as it is now. */
  loaded(): LoadedConfig;
}

/** `signalbox init`: a model, an agent, a channel and its owner, each step kept as it is answered. */
export async function init(options: InitOptions): Promise<void> {
  const home = locateHome(options.home, process.env);
  prepareHome(home);
  const isAsked = options.yes !== true && options.json !== true && process.stdin.isTTY === true;
  const step: Step = {
    home,
    env: process.env,
    asker: isAsked ? await askTerminal() : askNobody(),
    change: (edits) => configOrExit(() => changeConfig(home, process.env, edits, new Date())),
    loaded: () => configOrExit(() => readConfig(home, process.env)),
  };
  await providerStep(step, options);
  await agentStep(step, options);
  await channelStep(step, options, builtInChannels);
  print(options.json, { home: home.dir, file: home.configFile }, () => [
    `Set up in ${home.configFile}. Start it with \`signalbox start\`; \`signalbox doctor\` looks it over.`,
  ]);
}
