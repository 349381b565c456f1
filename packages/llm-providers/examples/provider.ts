import { defineProvider } from "@signalbox/llm-providers";

/** A server that streams events of `{ say }` and `{ end }`. */
export const echo = defineProvider({
  api: "echo",
  vendor: "Echo",
  requestIdHeaders: ["x-request-id"],
  send: ({ model, context, config, fetch, signal }) =>
    fetch(`${config.baseUrl}/say`, {
      method: "POST",
      headers: { "content-type": "application/json", ...config.headers },
      body: JSON.stringify({ model: model.id, messages: context.messages }),
      signal,
    }),
  createReader(turn) {
    const text = turn.open({ type: "text" });
    return {
      data(json) {
        const event: { say?: string; end?: boolean } = JSON.parse(json);
        if (event.say !== undefined) turn.append(text, event.say);
        if (event.end) turn.finish("end_turn");
      },
    };
  },
});
