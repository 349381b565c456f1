import { defineProvider } from "@signalbox/llm-providers";

/** One event stream of `{ say }` and `{ end }`. */
export const echo = defineProvider({
  api: "echo",
  vendor: "Echo",
  requestIdHeaders: ["x-request-id"],
  client: async ({ fetch, baseUrl }) => ({ fetch, url: `${baseUrl}/say` }),
  buildRequest: ({ model, context }) => JSON.stringify({ model: model.id, messages: context.messages }),
  send: ({ fetch, url }, body, _request, signal) => fetch(url, { method: "POST", body, signal }),
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
