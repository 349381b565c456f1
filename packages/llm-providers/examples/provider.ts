import { defineProvider } from "@signalbox/llm-providers";

/** One event stream of `{ say }` and `{ end }`. */
export const echo = defineProvider({
  api: "echo",
  vendor: "Echo",
  requestIdHeaders: ["x-request-id"],
  client: async ({ baseUrl, headers }) => ({
    url: `${baseUrl}/say`,
    headers: { "content-type": "application/json", ...headers },
  }),
  buildRequest: ({ model, context }, client) => ({
    ...client,
    body: JSON.stringify({ model: model.id, messages: context.messages }),
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
