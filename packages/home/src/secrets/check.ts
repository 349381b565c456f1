import type { HookConfig, LoadedConfig, Problem } from "@signalbox/config";
import type { Env, Home } from "../layout.ts";
import { effectiveToken, unconfiguredToken } from "../token.ts";
import { findGuessableSecrets } from "./guessable.ts";

/** The result of {@link checkSecrets}. */
export interface CheckedSecrets {
  /** The hooks without those whose secret is easy to guess. */
  readonly hooks: Readonly<Record<string, HookConfig>>;
  /** True if the gateway's token is easy to guess. */
  readonly guessableToken: boolean;
  readonly problems: readonly Problem[];
}

const REMEDY = "Create one with `openssl rand -base64 32`.";

/** Checks that the gateway's token and the secrets of its hooks are hard to guess. */
export async function checkSecrets(loaded: LoadedConfig, home: Home, env: Env): Promise<CheckedSecrets> {
  const { hooks, gateway } = loaded.config;
  const token = effectiveToken(loaded, home, env);
  const ofHooks = Object.values(hooks).flatMap(({ secret }) => secret ?? []);
  const guessable = await findGuessableSecrets([...(token === undefined ? [] : [token]), ...ofHooks]);
  const isWeak = ({ secret }: HookConfig): boolean => secret !== undefined && guessable.has(secret);
  const problem = (path: readonly string[], disables: string, which = ""): Problem =>
    loaded.problem(path, {
      severity: "error",
      message: `${which}is easy to guess: it consists of words, patterns or repetitions`,
      remedy: REMEDY,
      disables,
    });
  const guessableToken = token !== undefined && guessable.has(token);
  const which = gateway.auth.token === undefined ? `${unconfiguredToken(env, home)} ` : "";
  return {
    hooks: Object.fromEntries(Object.entries(hooks).filter(([, hook]) => !isWeak(hook))),
    guessableToken,
    problems: [
      ...(guessableToken ? [problem(["gateway", "auth", "token"], "the gateway", which)] : []),
      ...Object.entries(hooks).flatMap(([name, hook]) =>
        isWeak(hook) ? [problem(["hooks", name, "secret"], `hook ${name}`)] : [],
      ),
    ],
  };
}
