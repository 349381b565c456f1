import { reasonOf } from "@signalbox/channel";
import type { ModelList } from "@signalbox/protocol";
import { type AdminService, ApiError } from "@signalbox/server";
import type { GatewayContext } from "../../context.ts";
import { askOnce } from "../checks.ts";

type ModelAdmin = Pick<AdminService, "models" | "tryModel">;

/** Lists the models that agents can use, and tries one. */
export function createModelAdmin({ config, redact, audit, now }: GatewayContext): ModelAdmin {
  return {
    async models() {
      const models = config.current().models.list();
      const list: ModelList = {
        providers: [...new Set(models.map(({ provider }) => provider))],
        models: models.map(({ provider, id, contextWindow, maxOutputTokens, prices }) => ({
          model: `${provider}/${id}`,
          contextWindow,
          maxOutputTokens,
          inputPrice: prices?.input,
          outputPrice: prices?.output,
        })),
      };
      return list;
    },
    async tryModel(named, actor) {
      const { models, agents } = config.current();
      const reference = models.choose(named);
      const agent = agents.get(agents.defaultId);
      const chosen = reference !== undefined && agent !== undefined ? models.of(agent, reference) : undefined;
      if (chosen === undefined)
        throw new ApiError("not_found", `The model ${named} is not available.`, {
          remedy: "Set up its provider under models.providers.",
        });
      audit.operation({ action: "tried", subject: `model: ${reference}` }, actor);
      const startedAt = now();
      try {
        await askOnce(chosen, startedAt);
        return { ok: true, detail: "it answers", durationMs: now() - startedAt };
      } catch (error) {
        const remedy = `Fix its key or address under models.providers.${chosen.model.provider}, or choose another model.`;
        return { ok: false, detail: redact(reasonOf(error)), remedy, durationMs: now() - startedAt };
      }
    },
  };
}
