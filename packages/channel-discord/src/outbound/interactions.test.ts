import type { Json } from "@signalbox/channel";
import { expect, it } from "vitest";
import type { ApiCall } from "../api.ts";
import { createInteractions } from "./interactions.ts";

it("answers a command in its pending response, even if the answer is ready before the acknowledgement", async () => {
  const kept = new Map<string, Json>();
  const cache = {
    get: async (key: string) => kept.get(key),
    set: async (key: string, value: Json) => void kept.set(key, value),
  };
  const paths: string[] = [];
  const taken = Promise.withResolvers<void>();
  const api = {
    async call({ path }: ApiCall) {
      paths.push(path);
      if (path.endsWith("/callback")) await taken.promise;
      return { id: "9" };
    },
    rest: () => {
      throw new TypeError("nobody connects here");
    },
    stop() {},
  };
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const { signal } = new AbortController();
  const interactions = createInteractions({ cache, logger }, api);
  const head = { id: "1", token: "t", kind: "command", awaitsMessage: true, applicationId: "2" } as const;
  const acknowledged = interactions.acknowledge(head, signal);
  const answer = interactions.answer("1", { key: "k", body: { content: "one" }, signal });
  taken.resolve();
  await acknowledged;
  expect(await answer).toEqual({ id: "9" });
  expect(paths).toEqual(["/interactions/1/t/callback", "/webhooks/2/t/messages/@original"]);
});
