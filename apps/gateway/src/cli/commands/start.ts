import { isatty } from "node:tty";
import { reasonOf } from "@signalbox/agent-core";
import { createClient } from "@signalbox/client";
import { formatProblem, type Problem } from "@signalbox/config";
import {
  GatewayError,
  gatewayToken,
  locateHome,
  openVault,
  prepareHome,
  rereadConfig,
  watchConfig,
} from "@signalbox/home";
import type { CommonOptions } from "../common-options.ts";
import { configuredHome } from "../configured-home.ts";
import type { GatewayHost } from "../host.ts";
import { withOwnCommand } from "../own-command.ts";
import { describeLink, makeLink } from "./link.ts";

/** Time limit for sockets, timers and processes to close after the gateway has stopped, in milliseconds. */
const CLOSE_TIMEOUT_MS = 2_000;

/**
 * `signalbox start`: runs until SIGTERM, SIGINT or the end of its terminal. A second signal ends the process
 * immediately.
 */
export async function start(
  options: CommonOptions & { readonly strict?: boolean; readonly quiet?: boolean },
  host: GatewayHost,
): Promise<void> {
  // Unlike `process.stdin`, `isatty` does not open the standard input.
  const isAsked = options.json !== true && isatty(0) && isatty(1);
  if (isAsked) await (await import("../init/offer.ts")).offerInit(options, host);
  const watch = watchConfig(locateHome(options.home, process.env));
  const configured = configuredHome(options);
  const { home, loaded, env } = configured;
  prepareHome(home);
  const token = gatewayToken(loaded, home, env);
  const vault = openVault(loaded, env, token.value);
  const logging = { level: loaded.config.gateway.logLevel, isQuiet: options.quiet === true };
  const prepared = await host.prepare(configured, vault, logging);
  const { setup } = prepared;
  // Problems that prevent the start are part of the error message.
  const isSaid = ({ disables }: Problem): boolean => options.strict !== true && disables === "the gateway";
  report(
    setup.problems.filter((problem) => !isSaid(problem)),
    vault.redact,
  );
  if (options.strict === true) assertNoFaults(setup.problems);
  const fatal = Promise.withResolvers<Error>();
  const gateway = await prepared.start({ token, onFatal: fatal.resolve });
  const reload = (): void =>
    void gateway.reload((applied) => rereadConfig(locateHome(home.dir, env), env, applied));
  watch.onChange(reload);
  const stopping = Promise.withResolvers<undefined>();
  stopAtSignal(() => stopping.resolve(undefined));
  const isTerminalGone = watchTerminal();
  const hangUp = (): void => (isTerminalGone() ? stopping.resolve(undefined) : reload());
  process.on("SIGHUP", hangUp);
  const lines = [
    `Signalbox listens on ${gateway.url} (host ${loaded.config.gateway.host}), home ${home.dir}`,
    ...(token.isNew ? [`Your token, shown once and kept in ${home.tokenFile}: ${token.value}`] : []),
    ...(setup.models.demo
      ? [
          "No model key is set, so the offline demo model answers. Set up a model and a channel with `signalbox init`, or set ANTHROPIC_API_KEY (or another provider's key) or models.providers.",
        ]
      : []),
    ...(process.stderr.isTTY === true ? await signInLines(gateway.url, token.value) : []),
  ];
  process.stderr.write(`${withOwnCommand(lines.join("\n"))}\n`);

  const error = await Promise.race([stopping.promise, fatal.promise]);
  // The shell may send a second SIGHUP when its terminal is closed.
  process.off("SIGHUP", hangUp).on("SIGHUP", () => {});
  watch.stop();
  try {
    await gateway.stop(error ? reasonOf(error) : "signal");
  } finally {
    endThoughOpen();
  }
  if (error) throw new GatewayError("failure", `Stopped: ${reasonOf(error)}.`);
}

/**
 * Returns the sign-in link, but only for a terminal, because a log would store it. If the link cannot be created, the
 * gateway still runs.
 */
async function signInLines(url: string, token: string): Promise<readonly string[]> {
  const made = await makeLink(createClient({ baseUrl: url, token }), url).catch(() => undefined);
  return made === undefined ? [] : [describeLink(made), "`signalbox link` makes another link."];
}

/** Ends the process if a channel, a tool or a hook has left a handle open. Otherwise, the process ends without this. */
function endThoughOpen(): void {
  const end = (): never => {
    const open = [...new Set(process.getActiveResourcesInfo())].join(", ");
    process.stderr.write(`Stopped. Still open when the process ended: ${open}\n`);
    process.exit();
  };
  setTimeout(end, CLOSE_TIMEOUT_MS).unref();
}

/** Exit codes after a signal. */
const ENDED_BY = { SIGINT: 130, SIGTERM: 143 } as const;

/** Calls `stop` on the first stop signal. The second signal ends the process. */
function stopAtSignal(stop: () => void): void {
  let isStopping = false;
  for (const name of ["SIGTERM", "SIGINT"] as const)
    process.on(name, () => {
      if (isStopping) process.exit(ENDED_BY[name]);
      isStopping = true;
      stop();
    });
}

/**
 * Distinguishes a SIGHUP caused by closing the terminal from one that was sent on purpose. Ignores errors from writing
 * to the closed terminal, so that the gateway still stops cleanly.
 */
function watchTerminal(): () => boolean {
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  const isGone = (): boolean => terminals.length > 0 && !terminals.some((descriptor) => isatty(descriptor));
  process.stderr.on("error", (error) => {
    if (!isGone()) throw error;
  });
  return isGone;
}

/** Throws if a problem prevents a strict start. Other warnings are only advice. */
function assertNoFaults(problems: readonly Problem[]): void {
  const faults = [
    problems.some(({ severity }) => severity === "error") ? "errors" : [],
    problems.some(({ ignored }) => ignored === true) ? "settings that are ignored" : [],
  ].flat();
  if (faults.length > 0)
    throw new GatewayError(
      "config",
      `Not started: the configuration has ${faults.join(" and ")}, and --strict was given.`,
    );
}

function report(problems: readonly Problem[], redact: (text: string) => string): void {
  for (const problem of problems)
    process.stderr.write(redact(withOwnCommand(`${problem.severity}: ${formatProblem(problem)}\n`)));
}
