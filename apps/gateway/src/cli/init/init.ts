import { existsSync } from "node:fs";
import { changeConfig, GatewayError, type Home, locateHome, prepareHome, readConfig } from "@signalbox/home";
import { readHomeHolder } from "@signalbox/store";
import { configOrExit } from "../configured-home.ts";
import { formatCommand } from "../format-command.ts";
import type { GatewayHost } from "../host.ts";
import { print } from "../output.ts";
import { agentStep } from "./agent-step.ts";
import { askInOrder } from "./ask-in-order.ts";
import { type Asker, askNobody, askTerminal } from "./asker.ts";
import { channelStep } from "./channel-step.ts";
import { languageStep } from "./language-step.ts";
import { providerStep } from "./provider-step.ts";
import { isInterruptedAt, readSavedAnswers } from "./saved-answers.ts";
import { type ServiceOutcome, serviceStep } from "./service-step.ts";
import type { InitOptions, Step } from "./step.ts";

/** `signalbox init`: sets up a gateway step by step. */
export async function init(options: InitOptions, host: GatewayHost): Promise<void> {
  const isAsked = options.yes !== true && options.json !== true && process.stdin.isTTY === true;
  if (!isAsked && options.yes !== true && !hasAnswers(options))
    throw new GatewayError(
      "usage",
      "There is no terminal to ask at. Pass the answers as options, such as `signalbox init --provider anthropic --api-key <key>`, or --yes for the defaults.",
    );
  const asker = isAsked ? await askTerminal() : askNobody();
  const { home, failures, saved } = await setUp(options, host, asker);
  const service = await serviceStep(home, host.program, asker, options.service ?? (isAsked ? "ask" : false));
  const isSet = existsSync(home.configFile);
  const file = isSet ? { file: home.configFile } : {};
  print(options.json, { home: home.dir, ...file, service }, () => [
    summarize(home, isSet, saved.length > 0),
    nextLine(home, service),
    `Check it with ${formatCommand(home, "doctor")}.`,
  ]);
  if (failures.length > 0) throw new GatewayError("failure", failures.join("\n"));
}

function summarize({ configFile }: Home, isSet: boolean, isChanged: boolean): string {
  if (!isSet) return "Nothing was set up. The defaults apply, and the demo model answers.";
  return isChanged ? `Set up in ${configFile}.` : `Nothing was changed in ${configFile}.`;
}

/** Options that are no answers. */
const NO_ANSWERS: ReadonlySet<string> = new Set(["home", "json", "yes", "check", "service", "account"]);

function hasAnswers(options: InitOptions): boolean {
  return (
    options.service === true ||
    Object.entries(options).some(([name, value]) => value !== undefined && !NO_ANSWERS.has(name))
  );
}

function nextLine(home: Home, service: ServiceOutcome | undefined): string {
  if (service?.started === true)
    return `The gateway is running as a service (${service.file}). Run ${formatCommand(home, "link")} for a link to open in your browser.`;
  if (service !== undefined) return `The gateway is not running as a service. ${service.failure}`;
  return readHomeHolder(home.dir) === undefined
    ? `Start the gateway with ${formatCommand(home, "start")}, or have it start with this machine: ${formatCommand(home, "service install")}.`
    : "The running gateway picks this up by itself; its log says what needs a restart.";
}

/**
 * Asks for a model, the language of the workspace, a channel and its owner. Each answer is saved immediately. Returns
 * the names of the saved settings, and the failures of those that do not work.
 */
export async function setUp(
  options: InitOptions,
  host: GatewayHost,
  asker: Asker,
): Promise<{ readonly home: Home; readonly failures: readonly string[]; readonly saved: readonly string[] }> {
  const home = locateHome(options.home, process.env);
  const failures: string[] = [];
  const saved: string[] = [];
  prepareHome(home);
  const step: Step = {
    home,
    env: process.env,
    missingPackages: host.packages.missing,
    asker,
    progress: readSavedAnswers(home),
    change(what, edits) {
      configOrExit(() => changeConfig(home, process.env, edits, new Date()));
      saved.push(what);
      asker.saved();
    },
    failed: (message) => void failures.push(message),
    loaded: () => configOrExit(() => readConfig(home, process.env)),
  };
  const channels = await host.channels();
  try {
    await askSteps(
      step,
      [
        ["model", () => providerStep(step, options)],
        ["agent", () => agentStep(step, options)],
        ["language", (isRepeated) => languageStep(step, options, isRepeated)],
        ["channel", () => channelStep(step, options, channels)],
      ],
      options.resume === true,
    );
  } catch (error) {
    throw withSaved(error, saved, failures);
  }
  return { home, failures, saved };
}

/**
 * Runs the steps. After an interruption, the person can continue with the first incomplete one.
 *
 * @param resumes true if the person has already agreed to continue
 */
async function askSteps(
  { asker, progress }: Step,
  steps: readonly (readonly [name: string, run: (isRepeated: boolean) => Promise<boolean>])[],
  resumes: boolean,
): Promise<void> {
  if (!asker.asksPerson) {
    for (const [, run] of steps) await run(false);
    return;
  }
  const isInterrupted = isInterruptedAt(progress);
  asker.say(
    isInterrupted
      ? "Esc goes back one question. Ctrl+C stops, and `init` continues after the last saved answer."
      : "Esc goes back one question. Ctrl+C stops. Nothing is saved yet: a step is saved when it is complete, and `init` then continues after it.",
  );
  if (!resumes && isInterrupted && !(await asker.confirm("Continue the setup where it was interrupted?")))
    progress.clear();
  const completed = new Set(progress.steps);
  const repeated = new Set<string>();
  await askInOrder(
    steps.map(([name, run]) => async () => {
      if (completed.delete(name)) return false;
      const isAsked = await run(repeated.has(name));
      repeated.add(name);
      progress.complete(name);
      return isAsked;
    }),
  );
  progress.clear();
}

/** Adds what was saved before an error, and the failures that would be reported at the end. */
function withSaved(error: unknown, saved: readonly string[], failures: readonly string[]): unknown {
  if (!(error instanceof GatewayError) || error.code !== "usage" || saved.length + failures.length === 0)
    return error;
  const before = saved.length === 0 ? [] : [`Saved before that: ${[...new Set(saved)].join(", ")}.`];
  return new GatewayError(error.code, [error.message, ...before, ...failures].join("\n"), { cause: error });
}
