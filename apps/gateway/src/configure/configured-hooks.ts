import { reasonOf } from "@signalbox/agent-core";
import { importPackage } from "@signalbox/channel/accounts";
import type { LoadedConfig, PointHookConfig, Problem } from "@signalbox/config";
import { createHttpHook } from "../hooks/http-hook.ts";
import type { UncheckedHook } from "../hooks/point-types.ts";
import { importsFrom, type PackagePlaces } from "./host-packages.ts";

/** Hooks that the configuration adds to the message pipeline. */
export interface ConfiguredHooks {
  readonly hooks: readonly UncheckedHook[];
  readonly problems: readonly Problem[];
}

export interface PointHooksOptions extends PackagePlaces {
  readonly loaded: LoadedConfig;
}

/**
 * If a hook at this point fails to load, every call is denied. Without the blocking hook, everything would be allowed.
 */
const BLOCKING_POINT = "before_tool_call";

/** Loads the configured hooks. A `before_tool_call` hook that fails to load denies every call. */
export async function resolvePointHooks(options: PointHooksOptions): Promise<ConfiguredHooks> {
  const { loaded } = options;
  const problems: Problem[] = [];
  const hooks: UncheckedHook[] = [];
  for (const [name, config] of Object.entries(loaded.config.pointHooks)) {
    const hook =
      config === undefined ? "it is not configured correctly" : await loadHook(name, config, options);
    if (typeof hook !== "string") {
      hooks.push(hook);
      continue;
    }
    if (config !== undefined) problems.push(toProblem(loaded, name, config, hook));
    if (config === undefined || config.at === BLOCKING_POINT) hooks.push(denying(name, hook));
  }
  return { hooks, problems };
}

/** Loads a hook. If it cannot be loaded, returns the reason as a string. */
async function loadHook(
  name: string,
  { at: point, url, module = "", secret, timeoutMs }: PointHookConfig,
  places: PackagePlaces,
): Promise<UncheckedHook | string> {
  const limit = timeoutMs === undefined ? {} : { timeoutMs };
  if (url !== undefined) return createHttpHook({ point, name, url, ...limit, secret });
  try {
    const run = (await importPackage(module, importsFrom(places)))["default"];
    if (typeof run !== "function") return `the package ${module} exports no function as default`;
    return { point, name, ...limit, run: (payload, signal): unknown => run(payload, signal) };
  } catch (error) {
    return `the package ${module} could not be loaded: ${reasonOf(error)}`;
  }
}

function denying(name: string, why: string): UncheckedHook {
  return { point: BLOCKING_POINT, name, run: () => Promise.reject(new Error(why)) };
}

function toProblem(loaded: LoadedConfig, name: string, { at }: PointHookConfig, message: string): Problem {
  return loaded.problem(["hooks", name, "module"], {
    severity: "error",
    message,
    remedy: "Install the package in the gateway's home or next to the gateway, or set its folder.",
    disables: at === BLOCKING_POINT ? `hook ${name}, so that no tool may be used` : `hook ${name}`,
  });
}
