import type { Context } from "hono";
import type { ScopedService } from "../scope.ts";
import { openAiError } from "./errors.ts";

const PREFIX = "signalbox/";

/** `GET /v1/models`: lists the agents as models. */
export function listModels(context: Context, service: ScopedService): Response {
  return context.json({ object: "list", data: service.agents().map(formatModel) });
}

/** `GET /v1/models/<id>`. */
export function getModel(context: Context, service: ScopedService): Response {
  const id = context.req.param("id") ?? "";
  const agent = service.agents().find((each) => PREFIX + each.id === id);
  return agent === undefined ? replyUnknownModel(context, id, service) : context.json(formatModel(agent));
}

/** Finds the agent for a model name, with or without the prefix `signalbox/`. */
export function findAgent(service: ScopedService, model: string): { readonly id: string } | undefined {
  return service.agents().find((agent) => PREFIX + agent.id === model || agent.id === model);
}

export function replyUnknownModel(context: Context, id: string, service: ScopedService): Response {
  const names = service.agents().map((agent) => PREFIX + agent.id);
  return openAiError(context, 404, {
    message: `The model \`${id}\` does not exist. Available models: ${names.join(", ")}.`,
    type: "invalid_request_error",
    code: "model_not_found",
    param: "model",
  });
}

function formatModel({ id }: { readonly id: string }): object {
  return { id: PREFIX + id, object: "model", created: 0, owned_by: "signalbox" };
}
