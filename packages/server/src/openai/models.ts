import type { Context } from "hono";
import type { ScopedService } from "../scope.ts";
import { openAiError } from "./errors.ts";

const PREFIX = "signalbox/";

/** `GET /v1/models`: an agent is a model. */
export function listModels(context: Context, service: ScopedService): Response {
  return context.json({ object: "list", data: service.agents().map(modelOf) });
}

/** `GET /v1/models/<id>`. */
export function getModel(context: Context, service: ScopedService): Response {
  const id = context.req.param("id") ?? "";
  const agent = service.agents().find((one) => PREFIX + one.id === id);
  return agent === undefined ? noModel(context, id, service) : context.json(modelOf(agent));
}

/** The agent that a model names, with or without its prefix. */
export function agentOf(service: ScopedService, model: string): { readonly id: string } | undefined {
  return service.agents().find((one) => PREFIX + one.id === model || one.id === model);
}

export function noModel(context: Context, id: string, service: ScopedService): Response {
  const names = service.agents().map((one) => PREFIX + one.id);
  return openAiError(context, 404, {
    message: `The model \`${id}\` does not exist. Available models: ${names.join(", ")}.`,
    type: "invalid_request_error",
    code: "model_not_found",
    param: "model",
  });
}

function modelOf({ id }: { readonly id: string }): object {
  return { id: PREFIX + id, object: "model", created: 0, owned_by: "signalbox" };
}
