import { expect, it } from "vitest";
import { type GuardedFetch, readLinkedPages } from "../index.ts";
import { FetchError } from "../web/errors.ts";

const fetch: GuardedFetch = async (url) => {
  if (url.includes("private")) throw new FetchError("blocked", "Its address is not public.");
  if (url.includes("broken")) throw new Error("socket hang up");
  return {
    url,
    status: 200,
    contentType: "text/plain; charset=utf-8",
    bytes: new TextEncoder().encode("0123456789"),
  };
};

it("reads pages in the order of the links, shortens them, and reports failures", async () => {
  const failures: string[] = [];
  const text =
    "see https://a.test/x, https://private.test/ and https://broken.test/, then https://late.test/";
  const { signal } = new AbortController();
  const onFailure = (error: unknown) => void failures.push(String(error));
  expect(await readLinkedPages(text, { fetch, signal, max: 3, maxChars: 4, onFailure })).toEqual([
    { place: "https://a.test/x", text: "0123", cut: true },
    { place: "https://private.test/", note: "Its address is not public." },
    { place: "https://broken.test/", note: "It could not be read." },
  ]);
  expect(failures).toHaveLength(2);
});
