import { expect, it } from "vitest";
import { toPlainText } from "./plain.ts";

it("removes marks and keeps words, code and the URLs of links", () => {
  const markdown =
    "# Title\n\nSo **very** *much* ~~not~~ `a*b`, see [the docs](https://x.example/a_b) and https://y.example.\n\n" +
    "- one\n- two\n  1. deep\n\n> said\n\n```sh\nls *\n```";
  expect(toPlainText(markdown)).toBe(
    "Title\n\nSo very much not a*b, see the docs (https://x.example/a_b) and https://y.example.\n\n" +
      "- one\n- two\n  1. deep\n\n> said\n\nls *",
  );
});

it("shows no backslashes of escapes", () => {
  expect(toPlainText("3 \\* 4 = 12\\. Done\\!")).toBe("3 * 4 = 12. Done!");
});

it("never returns an empty text for one that has words or a picture", () => {
  for (const markdown of ["![](https://x.example/a.png)", "---", "<br>", "[a]: https://x.example"])
    expect(toPlainText(markdown).trim()).not.toBe("");
});
