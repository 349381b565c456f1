import { Fragment, memo, type ReactNode } from "react";
import { CodeBlock } from "../code-block.tsx";
import { type Block, parseMarkdown } from "./blocks.ts";
import { type Inline, webAddress } from "./inline.ts";

/** Shows Markdown as React elements. Nothing of the text ever becomes HTML, an attribute or a request. */
export const Markdown = memo(function Markdown({ text }: { text: string }): ReactNode {
  return <div className="markdown">{blocks(parseMarkdown(text))}</div>;
});

// Blocks and inline parts have no identity but their place, which only grows as text streams in.
function blocks(list: Block[]): ReactNode {
  return list.map((block, place) => <Fragment key={String(place)}>{show(block)}</Fragment>);
}

function show(block: Block): ReactNode {
  switch (block.type) {
    case "paragraph":
      return <p>{inline(block.inline)}</p>;
    case "heading": {
      // The page has its own first and second level.
      const Level = (["h3", "h4", "h5"] as const)[block.level - 1] ?? "h6";
      return <Level>{inline(block.inline)}</Level>;
    }
    case "code":
      return <CodeBlock text={block.text} label={block.language} />;
    case "quote":
      return <blockquote>{blocks(block.blocks)}</blockquote>;
    case "rule":
      return <hr />;
    case "list": {
      const items = block.items.map((item, place) => <li key={String(place)}>{tight(item)}</li>);
      return block.start === undefined ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>;
    }
    case "table":
      return (
        <div className="table">
          <table>
            <thead>
              <tr>
                {block.head.map((cell, place) => (
                  <th key={String(place)}>{inline(cell)}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, place) => (
                <tr key={String(place)}>
                  {row.map((cell, column) => (
                    <td key={String(column)}>{inline(cell)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
  }
}

/** The one paragraph of a list item needs no space around it. */
function tight(item: Block[]): ReactNode {
  const [first, ...rest] = item;
  if (first?.type !== "paragraph") return blocks(item);
  return (
    <>
      {inline(first.inline)}
      {blocks(rest)}
    </>
  );
}

function inline(list: Inline[]): ReactNode {
  return list.map((part, place) => <Fragment key={String(place)}>{showInline(part)}</Fragment>);
}

function showInline(part: Inline): ReactNode {
  if (typeof part === "string") return part;
  switch (part.type) {
    case "code":
      return <code>{part.text}</code>;
    case "strong":
      return <strong>{inline(part.children)}</strong>;
    case "em":
      return <em>{inline(part.children)}</em>;
    case "del":
      return <del>{inline(part.children)}</del>;
    case "break":
      return <br />;
    case "link":
      return (
        <>
          <a href={part.href} title={part.href} target="_blank" rel="noopener noreferrer">
            {inline(part.children)}
          </a>
          {otherHost(part) && <span className="host"> ({otherHost(part)})</span>}
        </>
      );
  }
}

/** Where a link is labelled with one address and leads to another: the host that it leads to. */
function otherHost({ href, children }: Extract<Inline, { type: "link" }>): string | undefined {
  const label = textOf(children).trim();
  const isHost = /^[\w-]+(\.[\w-]+)+(\/|$)/.test(label);
  const named = webAddress(isHost ? `https://${label}` : label);
  const { host } = new URL(href);
  return named !== undefined && new URL(named).host !== host ? host : undefined;
}

function textOf(list: Inline[]): string {
  return list
    .map((part) => {
      if (typeof part === "string") return part;
      if (part.type === "code") return part.text;
      return part.type === "break" ? " " : textOf(part.children);
    })
    .join("");
}
