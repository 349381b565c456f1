import type { Budget, WhenUsedUp } from "@signalbox/budgets";
import {
  type BudgetConfig,
  type Config,
  didYouMean,
  type LoadedConfig,
  type Problem,
} from "@signalbox/config";
import type { Agents } from "./agents.ts";
import type { Models } from "./models.ts";

/** Returns the budgets of a configuration. */
export function getBudgets({ budgets }: Config): readonly Budget[] {
  return budgets.map(({ of, name, roles, per, usd, tokens = 0, warnAt, action, model }) => ({
    of,
    name,
    roles,
    per,
    limit:
      usd === undefined
        ? { unit: "tokens", amount: tokens }
        : { unit: "micros", amount: Math.round(usd * 1e6) },
    warnAt,
    whenUsedUp: whenUsedUp(action, model),
  }));
}

function whenUsedUp(action: BudgetConfig["action"], model: string | undefined): WhenUsedUp {
  if (action !== "cheaper") return { action };
  return model === undefined ? { action: "stop" } : { action, model };
}

/** Reports budgets that match no calls, that cannot have the intended effect, or whose costs cannot be counted. */
export function budgetProblems(
  { config, problem }: LoadedConfig,
  agents: Agents,
  models: Models,
): readonly Problem[] {
  const ids = agents.all.map(({ id }) => id);
  return config.budgets.flatMap(({ of, name, usd, model }, index): Problem[] => {
    const problems: Problem[] = [];
    if (of === "agent" && name !== undefined && !ids.includes(name))
      problems.push(
        problem(["budgets", index, "name"], {
          severity: "error",
          message: `there is no agent ${name}`,
          remedy: `${didYouMean(name, ids)}Use one of ${ids.join(", ")}.`,
          disables: `budget ${index}`,
        }),
      );
    if (model !== undefined && models.choose(model) === undefined)
      problems.push(
        problem(["budgets", index, "model"], {
          severity: "error",
          message: `the model ${model} cannot be used`,
          remedy:
            "Choose another model, or set a key for its provider. Until then, no cheaper model answers.",
        }),
      );
    const unpriced = usd === undefined ? [] : unpricedModels(agents, models);
    if (unpriced.length > 0)
      problems.push(
        problem(["budgets", index, "usd"], {
          severity: "warning",
          message: `the price of ${unpriced.join(", ")} is unknown, so its costs are not counted`,
          remedy: "Set its prices under models.providers.<name>.models, or limit tokens instead.",
        }),
      );
    return problems;
  });
}

function unpricedModels(agents: Agents, models: Models): readonly string[] {
  const all = agents.all.flatMap((agent) => {
    const chosen = models.of(agent);
    return chosen === undefined || chosen.demo ? [] : [chosen.model, ...chosen.fallbacks];
  });
  return [
    ...new Set(
      all.filter(({ prices }) => prices === undefined).map(({ provider, id }) => `${provider}/${id}`),
    ),
  ];
}
